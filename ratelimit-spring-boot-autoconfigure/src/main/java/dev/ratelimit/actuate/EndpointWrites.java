package dev.ratelimit.actuate;

import dev.ratelimit.operate.Operations;
import dev.ratelimit.operate.Steering;
import java.time.Instant;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/** The changes of the endpoint. Each needs a reason. */
final class EndpointWrites {

    private static final Set<String> WITHOUT_END = Set.of("unblock", "reset", "revoke", "clear-penalty");

    private final Operations operations;

    EndpointWrites(Operations operations) {
        this.operations = operations;
    }

    /**
     * The author, the reason and the end of a change.
     *
     * @param duration how long it lasts, or {@code null}
     * @param until the moment of its end, or {@code null}
     */
    record Terms(
            String author,
            @Nullable String reason,
            @Nullable String duration,
            @Nullable String until) {}

    /** The change itself; see {@link RateLimitEndpoint#change}. */
    record Task(
            @Nullable String action,
            @Nullable String properties,
            @Nullable String version,
            @Nullable String limit) {

        /** The action; properties alone are set. */
        String actionOrSet() {
            return action == null && properties != null ? "set" : String.valueOf(action);
        }

        /** Refuses a field that the action would ignore: an operator who writes it expects an effect. */
        void requireUsed() {
            Set<String> used = switch (actionOrSet()) {
                case "set" -> Set.of("properties", "version");
                case "roll-back" -> Set.of("version");
                case "reset", "clear-penalty" -> Set.of("limit");
                default -> Set.of();
            };
            requireUsed(used, "properties", properties);
            requireUsed(used, "version", version);
            requireUsed(used, "limit", limit);
        }

        private void requireUsed(Set<String> used, String field, @Nullable String value) {
            if (value != null && !used.contains(field)) {
                throw new IllegalArgumentException(
                        "the field " + field + " has no effect with the action " + action + "; leave it out");
            }
        }
    }

    private Steering steer(Terms terms) {
        return operations.steer(terms.author, terms.reason);
    }

    private @Nullable Instant end(Terms terms) {
        return operations.end(terms.duration, terms.until);
    }

    /**
     * @param name the name of one thing of the section, or {@code null} for all of it
     */
    Object changeSection(String section, @Nullable String name, Task task, Terms terms) {
        if (name != null) {
            return change(section, name, task, terms);
        }
        task.requireUsed();
        Steering steering = steer(terms);
        return switch (section) {
            case "everything" -> steering.switchAll(isOn(task.action), end(terms));
            case "backups" -> {
                refuseEnd("a backup", terms);
                yield Map.of("backups", steering.backUp());
            }
            case "retention" -> {
                refuseEnd("a run of retention", terms);
                yield Map.of("retention", steering.runRetention());
            }
            default ->
                throw new NotFoundException("nothing is changed at '" + section
                        + "'; write everything, backups or retention, or the name of a"
                        + " thing behind limits, rules, users, addresses, keys or subjects");
        };
    }

    private static boolean isOn(@Nullable String action) {
        return switch (String.valueOf(action)) {
            case "on" -> true;
            case "off" -> false;
            default -> throw unknown(action, "off or on");
        };
    }

    private static IllegalArgumentException unknown(@Nullable String action, String known) {
        return new IllegalArgumentException(
                (action == null ? "the action is missing" : "the action is '" + action + "'") + "; write " + known);
    }

    /** An operator who writes an end expects one: a key that is revoked for an hour would stay revoked. */
    private static void refuseEnd(String change, Terms terms) {
        if (terms.duration != null || terms.until != null) {
            throw new IllegalArgumentException(change + " has no end; leave out duration and until");
        }
    }

    Object change(String section, String name, Task task, Terms terms) {
        task.requireUsed();
        if (task.action != null && WITHOUT_END.contains(task.action)) {
            refuseEnd("the action " + task.action, terms);
        }
        Steering steering = steer(terms);
        return switch (section) {
            case "limits" -> changeLimit(name, task, terms, steering);
            case "rules" -> changeRule(name, task, terms, steering);
            case "users" -> changeUser(name, task, terms, steering);
            case "addresses" -> changeAddress(name, task, terms, steering);
            case "keys" -> changeKey(name, task, steering);
            case "subjects" -> changeSubject(name, task, steering);
            default ->
                throw new NotFoundException("nothing is changed at '" + section
                        + "'; write limits, rules, users, addresses, keys or subjects");
        };
    }

    private Object changeLimit(String name, Task task, Terms terms, Steering steering) {
        return switch (task.actionOrSet()) {
            case "set" ->
                steering.setLimit(
                        name,
                        properties(task.properties),
                        task.version == null ? null : (Integer) EndpointReads.wholeNumber("version", task.version),
                        end(terms));
            case "off" -> steering.switchLimit(name, false, end(terms));
            case "on" -> steering.switchLimit(name, true, end(terms));
            case "roll-back" -> steering.rollBackLimit(name, version(task), end(terms));
            default -> throw unknown(task.action, "set, off, on or roll-back");
        };
    }

    private Object changeRule(String name, Task task, Terms terms, Steering steering) {
        return switch (String.valueOf(task.action)) {
            case "off" -> steering.switchRule(name, false, end(terms));
            case "on" -> steering.switchRule(name, true, end(terms));
            case "roll-back" -> steering.rollBackRule(name, version(task), end(terms));
            default -> throw unknown(task.action, "off, on or roll-back");
        };
    }

    private Object changeUser(String user, Task task, Terms terms, Steering steering) {
        switch (String.valueOf(task.action)) {
            case "block" -> steering.blockUser(user, end(terms));
            case "unblock" -> steering.unblockUser(user);
            case "reset" -> {
                return reset(operations.user(user).subject(), task.limit, steering);
            }
            default -> throw unknown(task.action, "block, unblock or reset");
        }
        return operations.user(user);
    }

    private Object changeAddress(String range, Task task, Terms terms, Steering steering) {
        return switch (String.valueOf(task.action)) {
            case "block" -> steering.blockAddress(range, end(terms));
            case "unblock" -> steering.unblockAddress(range);
            case "reset" -> reset(operations.address(range).subject(), task.limit, steering);
            default -> throw unknown(task.action, "block, unblock or reset");
        };
    }

    private Object changeKey(String id, Task task, Steering steering) {
        switch (String.valueOf(task.action)) {
            case "revoke" -> steering.revokeKey(id);
            case "reset" -> {
                return reset(operations.apiKey(id).subject(), task.limit, steering);
            }
            default -> throw unknown(task.action, "revoke or reset");
        }
        return operations.apiKey(id);
    }

    private Object changeSubject(String subject, Task task, Steering steering) {
        switch (String.valueOf(task.action)) {
            case "reset" -> {
                return reset(subject, task.limit, steering);
            }
            case "clear-penalty" -> steering.clearPenalty(subject, limit(task));
            default -> throw unknown(task.action, "reset or clear-penalty");
        }
        return operations.subject(subject);
    }

    private static String limit(Task task) {
        if (task.limit == null || task.limit.isBlank()) {
            throw new IllegalArgumentException("the limit is missing; write the name of the limit with the penalty");
        }
        return task.limit;
    }

    private Object reset(String subject, @Nullable String limit, Steering steering) {
        if (limit == null) {
            List<String> unused = steering.resetAll(subject);
        } else {
            steering.reset(subject, limit);
        }
        return operations.subject(subject);
    }

    private static int version(Task task) {
        if (task.version == null) {
            throw new IllegalArgumentException(
                    "the version is missing; write the number of the version to apply again");
        }
        return EndpointReads.wholeNumber("version", task.version);
    }

    /** Lines such as {@code max-requests: 100}, or the same separated by {@code ;}. */
    private static Map<String, String> properties(@Nullable String written) {
        Map<String, String> properties = new LinkedHashMap<>();
        for (String line : String.valueOf(written == null ? "" : written).split("[;\n]", -1)) {
            if (line.isBlank()) {
                continue;
            }
            int colon = line.indexOf(':');
            if (colon < 0) {
                throw new IllegalArgumentException("the properties hold '" + line.strip()
                        + "'; write a name, a colon and a value, such as max-requests: 100");
            }
            String name = line.substring(0, colon).strip();
            if (properties.put(name, line.substring(colon + 1).strip()) != null) {
                throw new IllegalArgumentException("the properties hold '" + name + "' twice; write it once");
            }
        }
        return properties;
    }

    Object remove(String section, String name, Terms terms) {
        Steering steering = steer(terms);
        return switch (section) {
            case "limits" -> steering.removeLimit(name);
            case "rules" -> steering.removeRule(name);
            case "addresses" -> steering.unblockAddress(name);
            case "users" -> {
                steering.unblockUser(name);
                yield operations.user(name);
            }
            case "keys" -> {
                steering.revokeKey(name);
                yield operations.apiKey(name);
            }
            case "subjects" -> reset(name, null, steering);
            default ->
                throw new NotFoundException("nothing is removed at '" + section
                        + "'; write limits, rules, users, addresses, keys or subjects");
        };
    }
}
