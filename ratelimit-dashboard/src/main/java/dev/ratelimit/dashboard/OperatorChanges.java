package dev.ratelimit.dashboard;

import static dev.ratelimit.dashboard.Reads.text;

import dev.ratelimit.operate.Operations;
import dev.ratelimit.operate.Steering;
import dev.ratelimit.operate.SubjectView;
import java.time.Instant;
import java.util.LinkedHashMap;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.JsonNode;

/** The changes that an operator makes. The author is the principal, and each has a reason. */
final class OperatorChanges {

    /** One change. */
    private interface Work {
        void run(Steering steering, JsonNode body, @Nullable Instant until);
    }

    private static final String USER = "user:";
    private static final String ADDRESS = "ip:";

    private final Operations operations;
    private final Map<String, Work> known = new LinkedHashMap<>();

    OperatorChanges(Operations operations) {
        this.operations = operations;
        known.put("set-limit", (by, body, until) -> by.setLimit(required(body, "limit"), properties(body), until));
        known.put("switch-limit", (by, body, until) -> by.switchLimit(required(body, "limit"), isOn(body), until));
        known.put("remove-limit", (by, body, until) -> by.removeLimit(required(body, "limit")));
        known.put(
                "roll-back-limit",
                (by, body, until) -> by.rollBackLimit(required(body, "limit"), version(body), until));
        known.put("switch-rule", (by, body, until) -> by.switchRule(required(body, "rule"), isOn(body), until));
        known.put("roll-back-rule", (by, body, until) -> by.rollBackRule(required(body, "rule"), version(body), until));
        known.put("switch-all", (by, body, until) -> by.switchAll(isOn(body), until));
        known.put("block", (by, body, until) -> block(by, required(body, "subject"), until));
        known.put("unblock", (by, body, until) -> unblock(by, required(body, "subject")));
        known.put("reset", (by, body, until) -> reset(by, required(body, "subject"), text(body, "limit")));
    }

    /** Makes the named change. */
    Object make(String name, JsonNode body, Operator operator) {
        Work work = known.get(name);
        if (work == null) {
            throw RefusedException.of(404, "There is no change of that name.");
        }
        String reason = text(body, "reason");
        if (reason == null) {
            throw RefusedException.invalid("reason", "Say why you make this change.");
        }
        Instant until = operations.end(text(body, "for"), text(body, "until"));
        work.run(operations.steer(operator.name(), reason), body, until);
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
