package dev.ratelimit.dashboard;

import static dev.ratelimit.dashboard.Reads.text;

import dev.ratelimit.operate.Operations;
import dev.ratelimit.operate.Steering;
import dev.ratelimit.operate.SubjectView;
import java.time.Instant;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.JsonNode;

/** The changes that an operator makes. The author is the principal, and each has a reason. */
final class OperatorChanges {

    /** One change. */
    private interface Work {
        void run(Steering steering, JsonNode body, @Nullable Instant until);
    }

    /**
     * A kind of change.
     *
     * @param fields all fields that its body may have
     */
    private record Kind(Set<String> fields, Work work) {}

    private static final String USER = "user:";
    private static final String ADDRESS = "ip:";

    private final Operations operations;
    private final Map<String, Kind> known = new LinkedHashMap<>();

    OperatorChanges(Operations operations) {
        this.operations = operations;
        know("set-limit", Set.of("limit", "properties", "version"), true, this::setLimit);
        know(
                "switch-limit",
                Set.of("limit", "on"),
                true,
                (by, body, until) -> by.switchLimit(required(body, "limit"), isOn(body), until));
        know("remove-limit", Set.of("limit"), false, (by, body, until) -> by.removeLimit(required(body, "limit")));
        know(
                "roll-back-limit",
                Set.of("limit", "version"),
                true,
                (by, body, until) -> by.rollBackLimit(required(body, "limit"), version(body), until));
        know(
                "switch-rule",
                Set.of("rule", "on"),
                true,
                (by, body, until) -> by.switchRule(required(body, "rule"), isOn(body), until));
        know(
                "roll-back-rule",
                Set.of("rule", "version"),
                true,
                (by, body, until) -> by.rollBackRule(required(body, "rule"), version(body), until));
        know("switch-all", Set.of("on"), true, (by, body, until) -> by.switchAll(isOn(body), until));
        know("block", Set.of("subject"), true, (by, body, until) -> block(by, required(body, "subject"), until));
        know("unblock", Set.of("subject"), false, (by, body, until) -> unblock(by, required(body, "subject")));
        know(
                "reset",
                Set.of("subject", "limit"),
                false,
                (by, body, until) -> reset(by, required(body, "subject"), text(body, "limit")));
    }

    /**
     * @param fields of the body, besides the reason
     * @param ends whether the change may have an end
     */
    private void know(String name, Set<String> fields, boolean ends, Work work) {
        Set<String> all = new TreeSet<>(fields);
        all.add("reason");
        if (ends) {
            all.addAll(Set.of("for", "until"));
        }
        known.put(name, new Kind(all, work));
    }

    private void setLimit(Steering by, JsonNode body, @Nullable Instant until) {
        Integer seen = body.hasNonNull("version") ? (Integer) version(body) : null;
        by.setLimit(required(body, "limit"), properties(body), seen, until);
    }

    /** Makes the named change. */
    Object make(String name, JsonNode body, Operator operator) {
        Kind kind = known.get(name);
        if (kind == null) {
            throw RefusedException.of(404, "There is no change of that name.");
        }
        Json.requireOnly(body, kind.fields);
        String reason = text(body, "reason");
        if (reason == null) {
            throw RefusedException.invalid("reason", "Say why you make this change.");
        }
        Instant until = operations.end(text(body, "for"), text(body, "until"));
        kind.work.run(operations.steer(operator.name(), reason), body, until);
        return Map.of();
    }

    private void block(Steering by, String subject, @Nullable Instant until) {
        if (subject.startsWith(ADDRESS)) {
            by.blockAddress(subject.substring(ADDRESS.length()), until);
        } else {
            by.blockUser(userOf(subject), until);
        }
    }

    private void unblock(Steering by, String subject) {
        if (subject.startsWith(ADDRESS)) {
            by.unblockAddress(subject.substring(ADDRESS.length()));
        } else {
            by.unblockUser(userOf(subject));
        }
    }

    private static void reset(Steering by, String subject, @Nullable String limit) {
        if (limit == null) {
            by.resetAll(subject);
        } else {
            by.reset(subject, limit);
        }
    }

    private String userOf(String text) {
        SubjectView subject = operations.subject(text);
        String user = subject.user();
        if (!text.startsWith(USER) || user == null) {
            throw new IllegalArgumentException(
                    "the subject is '" + text + "'; only users and addresses can be blocked, such as user:alice");
        }
        return user;
    }

    private static Map<String, String> properties(JsonNode body) {
        Map<String, String> properties = new LinkedHashMap<>();
        JsonNode given = body.path("properties");
        for (String name : given.propertyNames()) {
            String value = text(given, name);
            properties.put(name, value == null ? "" : value);
        }
        return properties;
    }

    private static String required(JsonNode body, String name) {
        String value = text(body, name);
        if (value == null) {
            throw RefusedException.invalid(name, "It is missing.");
        }
        return value;
    }

    private static boolean isOn(JsonNode body) {
        if (!body.path("on").isBoolean()) {
            throw RefusedException.invalid("on", "It must be true or false.");
        }
        return body.path("on").asBoolean();
    }

    private static int version(JsonNode body) {
        if (!body.path("version").isInt()) {
            throw RefusedException.invalid("version", "It must be the number of a version.");
        }
        return body.path("version").asInt();
    }
}
