package dev.ratelimit.schema;

import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * The migrations of a database, in order. Each script records its own version in {@link Schema#HISTORY_TABLE}: so it does
 * not matter who runs it, this library or an administrator of the database.
 *
 * @param folder where they are in the jar
 */
record Scripts(String folder, List<Script> all) {

    static final Scripts SQLITE = of("sqlite", "V1__rate_limits.sql");
    static final Scripts SQLITE_AUDIT = of("sqlite/audit", "V1__rate_limit_audit.sql");
    static final Scripts POSTGRESQL = of("postgresql", "V1__rate_limits.sql");

    /** Without functions, triggers and partitions. */
    static final Scripts POSTGRESQL_PLAIN = of("postgresql/plain", "V1__rate_limits.sql");

    /**
     * @param version the first is 1
     */
    record Script(int version, String name) {}

    private static Scripts of(String folder, String... names) {
        Script[] scripts = new Script[names.length];
        for (int i = 0; i < names.length; i++) {
            scripts[i] = new Script(i + 1, names[i]);
        }
        return new Scripts("dev/ratelimit/schema/" + folder + "/", List.of(scripts));
    }

    int newest() {
        return all.size();
    }

    /** The scripts to run on a schema of this version. */
    List<Script> after(int version) {
        return all.subList(version, all.size());
    }

    String text(String name) {
        try (@Nullable InputStream script = Scripts.class.getClassLoader().getResourceAsStream(folder + name)) {
            if (script == null) {
                throw new IllegalStateException(folder + name + " is missing from the jar of ratelimit-core");
            }
            return new String(script.readAllBytes(), StandardCharsets.UTF_8);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    /** Refuses a newer schema. */
    void refuseNewer(String where, int applied) {
        if (applied > newest()) {
            throw new SchemaException(
                    SchemaException.Reason.NEWER,
                    where + " is at version " + applied + ", but this library supports versions up to " + newest()
                            + "; upgrade the library",
                    null);
        }
    }

    /** Refuses every schema but the current one. */
    void requireCurrent(String where, int applied) {
        refuseNewer(where, applied);
        if (applied < newest()) {
            throw new SchemaException(
                    applied == 0 ? SchemaException.Reason.MISSING : SchemaException.Reason.OLDER,
                    where + (applied == 0 ? " has no tables of rate limits" : " is at version " + applied)
                            + "; run "
                            + String.join(
                                    ", then ",
                                    after(applied).stream()
                                            .map(script -> folder + script.name())
                                            .toList())
                            + " of the ratelimit-core jar",
                    null);
        }
    }
}
