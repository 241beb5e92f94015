package dev.ratelimit.admin;

import dev.ratelimit.admin.version.Change;
import dev.ratelimit.caller.Account;
import dev.ratelimit.caller.Quota;
import dev.ratelimit.policy.Rule;
import dev.ratelimit.support.JsonText;
import java.time.Instant;
import java.time.ZoneId;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * Lists the changes that operators made. Each was logged in the transaction of the change. Rows that somebody wrote by hand
 * are not among them.
 */
public final class ChangeLog {

    /**
     * A change.
     *
     * @param id ascends in the order of the changes
     * @param change the author, the expiry and the reason
     * @param before the state before, a JSON object, or {@code null} if there was none
     * @param after the state after, a JSON object, or {@code null} if there is none
     */
    public record LoggedChange(
            long id,
            Instant at,
            Change change,
            Target target,
            @Nullable String before,
            @Nullable String after) {}

    /**
     * The changed thing.
     *
     * @param action such as {@code set}, {@code remove}, {@code roll-back}, {@code switch-off}, {@code block}
     * @param name the name of the limit, the rule or the user; the id of the API key; the text of the subject
     */
    public record Target(String action, Kind kind, String name) {}

    /** The kinds of things that operators change. */
    public enum Kind {
        LIMIT("limit"),
        RULE("rule"),
        /** The tier and the quota of a user. */
        QUOTA("quota"),
        /** The block of a user. */
        USER("user"),
        API_KEY("api-key"),
        /** The counts and penalties of a subject. */
        SUBJECT("subject"),
        /** The copy of an SQLite file. */
        BACKUP("backup"),
        /** The end of old months of the audit trail and of totals. */
        RETENTION("retention");

        private final String keyword;

        Kind(String keyword) {
            this.keyword = keyword;
        }

        /** As it is stored. */
        public String keyword() {
            return keyword;
        }

        /**
         * @throws IllegalArgumentException if there is none
         */
        public static Kind ofKeyword(String keyword) {
            for (Kind kind : values()) {
                if (kind.keyword.equals(keyword)) {
                    return kind;
                }
            }
            throw new IllegalArgumentException("the kind of a change is '" + keyword
                    + "'; write limit, rule, quota, user, api-key, subject, backup or retention");
        }
    }

    /**
     * Chooses changes.
     *
     * @param before only changes that are older than the one of that id; {@code null} for the newest
     * @param kind only changes of such things, or {@code null}
     * @param name only changes of that name, or {@code null}
     * @param most at most so many
     */
    public record Query(
            @Nullable Long before,
            @Nullable Kind kind,
            @Nullable String name,
            int most) {

        public Query {
            SubjectAdmin.requireMost(most);
        }

        /** The newest changes. */
        public static Query newest(int most) {
            return new Query(null, null, null, most);
        }
    }

    private final PolicyStorage storage;

    ChangeLog(PolicyStorage storage) {
        this.storage = storage;
    }

    /** Changes, the newest first. */
    public List<LoggedChange> list(Query query) {
        return storage.changes(query);
    }

    // The state before and after, as JSON

    static @Nullable String json(@Nullable Rule rule) {
        return rule == null ? null : JsonText.object(rule.properties());
    }

    static @Nullable String json(@Nullable Map<String, String> definition) {
        return definition == null ? null : JsonText.object(definition);
    }

    /** The tier and the quota. */
    static @Nullable String json(@Nullable String tier, Quota quota) {
        Map<String, String> values = new LinkedHashMap<>();
        put(values, "tier", tier);
        put(values, "per-second", quota.perSecond());
        put(values, "per-hour", quota.perHour());
        put(values, "per-day", quota.perDay());
        put(values, "per-month", quota.perMonth());
        put(values, "burst", quota.burst());
        ZoneId zone = quota.zone();
        put(values, "zone", zone == null ? null : zone.getId());
        return values.isEmpty() ? null : JsonText.object(values);
    }

    static @Nullable String quotaOf(@Nullable Account account) {
        return account == null ? null : json(account.tier(), account.quota());
    }

    static @Nullable String blockOf(@Nullable Account account) {
        return account == null ? null : block(account.blockedUntil(), account.blockReason());
    }

    static @Nullable String block(@Nullable Instant until, @Nullable String reason) {
        Map<String, String> values = new LinkedHashMap<>();
        put(values, "blocked-until", until);
        put(values, "reason", until == null ? null : reason);
        return values.isEmpty() ? null : JsonText.object(values);
    }

    /** Nothing of its secret. */
    static String json(NewApiKey key) {
        Map<String, String> values = new LinkedHashMap<>();
        values.put("name", key.name());
        values.put("owner", key.owner());
        put(values, "tier", key.tier());
        put(values, "expires-at", key.expiresAt());
        return JsonText.object(values);
    }

    private static void put(Map<String, String> values, String name, @Nullable Object value) {
        if (value != null) {
            values.put(name, value.toString());
        }
    }

    /** Logs that an operator has made a backup. */
    public void backedUp(String file, Change change) {
        change.requireNoExpiry("a backup");
        storage.run(transaction -> transaction.log(new Target("back-up", Kind.BACKUP, file), change, null, null));
    }

    /** Logs that an operator lets retention run. */
    public void retentionBegins(Change change) {
        change.requireNoExpiry("a run of retention");
        storage.run(transaction ->
                transaction.log(new Target("run", Kind.RETENTION, "audit trail and totals"), change, null, null));
    }
}
