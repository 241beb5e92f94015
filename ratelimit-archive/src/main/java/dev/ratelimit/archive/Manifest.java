package dev.ratelimit.archive;

import dev.ratelimit.audit.retention.ArchiveException;
import dev.ratelimit.support.JsonText;
import java.time.DateTimeException;
import java.time.Instant;
import java.time.YearMonth;
import java.util.LinkedHashMap;
import java.util.Map;
import org.springframework.boot.json.BasicJsonParser;

/**
 * Describes an archive, in a file beside it. Without it, an archive is not complete.
 *
 * @param firstAt the time of the first row
 * @param lastAt the time of the last row
 * @param sha256 of the archive, in hexadecimal digits
 * @param schemaVersion of the columns
 * @param createdBy the instance that wrote it
 */
record Manifest(
        YearMonth month,
        long rows,
        Instant firstAt,
        Instant lastAt,
        String sha256,
        int schemaVersion,
        Instant createdAt,
        String createdBy) {

    /** The version of the archives that this version of the library writes and reads. */
    static final int SCHEMA_VERSION = 1;

    String toJson() {
        Map<String, String> members = new LinkedHashMap<>();
        members.put("month", JsonText.quoted(month.toString()));
        members.put("rows", Long.toString(rows));
        members.put("first_at", JsonText.quoted(firstAt.toString()));
        members.put("last_at", JsonText.quoted(lastAt.toString()));
        members.put("sha256", JsonText.quoted(sha256));
        members.put("schema_version", Integer.toString(schemaVersion));
        members.put("created_at", JsonText.quoted(createdAt.toString()));
        members.put("created_by", JsonText.quoted(createdBy));
        StringBuilder json = new StringBuilder();
        members.forEach((name, value) -> json.append(json.isEmpty() ? "{\n" : ",\n")
                .append("  \"")
                .append(name)
                .append("\": ")
                .append(value));
        return json.append("\n}\n").toString();
    }

    /**
     * Reads a manifest.
     *
     * @param where it is, for the message
     */
    static Manifest parse(String json, Object where) {
        try {
            Map<String, Object> members = new BasicJsonParser().parseMap(json);
            return new Manifest(
                    YearMonth.parse(text(members, "month")),
                    Long.parseLong(text(members, "rows")),
                    Instant.parse(text(members, "first_at")),
                    Instant.parse(text(members, "last_at")),
                    text(members, "sha256"),
                    Integer.parseInt(text(members, "schema_version")),
                    Instant.parse(text(members, "created_at")),
                    text(members, "created_by"));
        } catch (DateTimeException | IllegalArgumentException e) {
            throw new ArchiveException(where + " is not a manifest (" + e.getMessage() + "); restore the file", e);
        }
    }

    private static String text(Map<String, Object> members, String name) {
        Object value = members.get(name);
        if (value == null) {
            throw new IllegalArgumentException("'" + name + "' is missing");
        }
        return value.toString();
    }
}
