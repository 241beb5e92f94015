package dev.ratelimit.operate;

import dev.ratelimit.IpAddress;
import dev.ratelimit.Subject;
import dev.ratelimit.admin.RateLimitAdmin;
import dev.ratelimit.admin.version.Change;
import dev.ratelimit.admin.version.Version;
import dev.ratelimit.audit.retention.Retention;
import dev.ratelimit.policy.Action;
import dev.ratelimit.policy.AddressRange;
import dev.ratelimit.policy.Rule;
import dev.ratelimit.store.sqlite.Backups;
import java.time.Instant;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/**
 * The changes of one operator for one reason. A change is committed when the call returns. It takes effect on this instance
 * immediately, on other instances a moment later. For failures, see {@link Operations}.
 */
public final class Steering {

    private static final int MOST_CHARACTERS = 500;

    /** Before every rule that people are likely to write. */
    private static final int PRIORITY_OF_BLOCKS = 1_000_000;

    /** The beginning of the names of rules that block addresses. */
    private static final String ADDRESS_BLOCK = "blocked:";

    private final RateLimitAdmin admin;
    private final Operations.Services services;
    private final Change change;

    Steering(RateLimitAdmin admin, Operations.Services services, Change change) {
        this.admin = admin;
        this.services = services;
        this.change = change;
    }

    static Change change(String author, @Nullable String reason) {
        requireLine("author", author, "write the name of the operator");
        requireLine("reason", reason, "say why you make the change, such as \"launch day\"");
        return Change.by(author.strip()).because(String.valueOf(reason).strip());
    }

    /** Texts end in logs and tables, so each is one line that a person can read. */
    private static void requireLine(String property, @Nullable String text, String advice) {
        if (text == null || text.isBlank()) {
            throw new IllegalArgumentException("the " + property + " is missing; " + advice);
        }
        if (text.length() > MOST_CHARACTERS) {
            throw new IllegalArgumentException(
                    "the " + property + " has " + text.length() + " characters; write at most " + MOST_CHARACTERS);
        }
        if (text.codePoints().anyMatch(Steering::isUnreadable)) {
            throw new IllegalArgumentException(
                    "the " + property + " has a line break or a control character; write one line of text");
        }
    }

    /**
     * Accepts every name that an account may have, also with invisible characters: nobody can evade a block by such a name. Logs and
     * subjects escape them.
     */
    private static void requireName(String user) {
        if (user.isBlank()) {
            throw new IllegalArgumentException("the user is missing; write the name of a user");
        }
        if (user.length() > MOST_CHARACTERS) {
            throw new IllegalArgumentException(
                    "the user has " + user.length() + " characters; write at most " + MOST_CHARACTERS);
        }
        if (user.codePoints().anyMatch(point -> point == 0 || Character.getType(point) == Character.SURROGATE)) {
            throw new IllegalArgumentException(
                    "the user has a character that no database can store; write a name that an account may have");
        }
    }

    private static boolean isUnreadable(int point) {
        int type = Character.getType(point);
        return type == Character.CONTROL
                || type == Character.FORMAT
                || type == Character.SURROGATE
                || type == Character.LINE_SEPARATOR
                || type == Character.PARAGRAPH_SEPARATOR;
    }

    /**
     * The addresses that a block covers: the range as it is written, or the addresses that count as one client with a single
     * one. Such a client can use all of them.
     */
    static AddressRange blocked(String range, RateLimitAdmin admin) {
        return AddressRange.parse(
                range.indexOf('/') >= 0 || IpAddress.parse(range) == null
                        ? range
                        : admin.subjects().clientAt(range));
    }

    /** The name of the rule that blocks these addresses. */
    static String addressBlock(AddressRange addresses) {
        return ADDRESS_BLOCK + addresses;
    }

    /** The addresses that a rule of this name blocks, if {@link #blockAddress} made it; {@code null} otherwise. */
    public static @Nullable String addressesBlockedBy(String rule) {
        return rule.startsWith(ADDRESS_BLOCK) ? rule.substring(ADDRESS_BLOCK.length()) : null;
    }

    private Change until(@Nullable Instant end) {
        return end == null ? change : change.until(end);
    }

    // Limits

    /**
     * Sets a limit, or single properties that override those of the configured limit.
     *
     * @param until when the version before it applies again, or {@code null}
     */
    public VersionView setLimit(String name, Map<String, String> properties, @Nullable Instant until) {
        return setLimit(name, properties, null, until);
    }

    /**
     * The same, if the version in force is still the one that the operator saw.
     *
     * @param seen the number of that version, zero for the configuration; {@code null} for no check
     * @throws IllegalStateException if the limit has changed meanwhile
     */
    public VersionView setLimit(
            String name, Map<String, String> properties, @Nullable Integer seen, @Nullable Instant until) {
        if (properties.isEmpty()) {
            throw new IllegalArgumentException(
                    "no property of limit '" + name + "' is given; write at least one, such as max-requests: 100");
        }
        Change change = until(until);
        return limit(
                seen == null
                        ? admin.limits().set(name, properties, change)
                        : admin.limits().set(name, properties, seen, change));
    }

    /** Removes a stored limit, so that the configuration applies again. */
    public VersionView removeLimit(String name) {
        return limit(admin.limits().remove(name, change));
    }

    /**
     * Applies an earlier version of a limit again.
     *
     * @param until its end; {@code null} for that of the earlier version, if it has one
     */
    public VersionView rollBackLimit(String name, int version, @Nullable Instant until) {
        requireStored(version);
        return limit(admin.limits().rollback(name, version, until(until)));
    }

    private static void requireStored(int version) {
        if (version == 0) {
            throw new IllegalArgumentException(
                    "the version is 0, which is the configuration; to return to the configuration, use DELETE");
        }
    }

    /** Switches a limit off; or on, as it was before. */
    public VersionView switchLimit(String name, boolean on, @Nullable Instant until) {
        Change change = until(until);
        return limit(on ? admin.limits().enable(name, change) : admin.limits().disable(name, change));
    }

    /** Switches all limits and rules off or on. */
    public VersionView switchAll(boolean on, @Nullable Instant until) {
        Change change = until(until);
        return limit(on ? admin.enable(change) : admin.disable(change));
    }

    private static VersionView limit(Version<Map<String, String>> stored) {
        return LimitViews.version(stored, true, definition -> definition);
    }

    // Rules

    /** Switches a rule off; or on, as it was before. */
    public VersionView switchRule(String name, boolean on, @Nullable Instant until) {
        Change change = until(until);
        return rule(on ? admin.rules().enable(name, change) : admin.rules().disable(name, change));
    }

    /** Removes a stored rule, so that the configuration applies again. */
    public VersionView removeRule(String name) {
        return rule(admin.rules().remove(name, change));
    }

    /** Applies an earlier version of a rule again, as {@link #rollBackLimit} does. */
    public VersionView rollBackRule(String name, int version, @Nullable Instant until) {
        requireStored(version);
        return rule(admin.rules().rollback(name, version, until(until)));
    }

    private static VersionView rule(Version<Rule> stored) {
        return LimitViews.version(stored, true, Rule::properties);
    }

    // Users and addresses

    /**
     * Rejects all requests of a user.
     *
     * @param until the end; {@code null} for none
     */
    public void blockUser(String user, @Nullable Instant until) {
        requireName(user);
        admin.quotas().block(user, until(until));
    }

    public void unblockUser(String user) {
        requireName(user);
        admin.quotas().unblock(user, change);
    }

    /**
     * Rejects all requests from an address or a range, by a rule of its own that comes before others. An IPv6 address stands for
     * the network that counts as one client; {@code /128} behind it blocks this address only.
     *
     * @param range such as {@code 203.0.113.7}, {@code 203.0.113.0/24} or {@code 2001:db8::7}
     * @param until the end; {@code null} for none
     * @return the rule; its {@code addresses} are those that are blocked
     */
    public VersionView blockAddress(String range, @Nullable Instant until) {
        AddressRange addresses = blocked(range, admin);
        Rule rule = Rule.named(addressBlock(addresses))
                .priority(PRIORITY_OF_BLOCKS)
                .addresses(addresses.toString())
                .action(Action.BLOCK)
                .build();
        return rule(admin.rules().set(rule, until(until)));
    }

    /** Ends the block of an address or a range, which is read as {@link #blockAddress} reads it. */
    public VersionView unblockAddress(String range) {
        AddressRange addresses = blocked(range, admin);
        try {
            return removeRule(addressBlock(addresses));
        } catch (IllegalArgumentException e) {
            List<String> blocked = admin.policy().rules().rules().stream()
                    .map(Rule::name)
                    .map(Steering::addressesBlockedBy)
                    .filter(Objects::nonNull)
                    .toList();
            if (blocked.contains(addresses.toString())) {
                throw e;
            }
            throw new IllegalArgumentException(
                    "the address " + addresses + " is not blocked; "
                            + (blocked.isEmpty() ? "no address is" : "write one of " + String.join(", ", blocked)),
                    e);
        }
    }

    // Subjects

    /**
     * Resets the count, the violations and the penalty of a subject on a limit.
     *
     * @param subject its text, such as {@code user:alice}
     * @param limit the name of a limit; {@code quota} for the whole quota
     */
    public void reset(String subject, String limit) {
        requireDone(admin.reset(counted(subject), limit, change), subject, limit);
    }

    /**
     * Resets a subject on all limits and quotas that count it, and subjects of several parts that begin with it. A store that
     * cannot list its counts resets the limits that rules in force count the subject for, without subjects of several parts.
     *
     * @return the names of these limits
     */
    public List<String> resetAll(String subject) {
        List<String> limits = admin.resetAll(counted(subject), change);
        if (limits == null) {
            throw notDone(subject, "any limit");
        }
        return limits;
    }

    private Subject counted(String subject) {
        return admin.subjects().counted(subject);
    }

    private static void requireDone(boolean done, String subject, String limit) {
        if (!done) {
            throw notDone(subject, "limit '" + limit + "'");
        }
    }

    private static UnavailableException notDone(String subject, String where) {
        return new UnavailableException("the store did not answer, so " + subject + " may not be reset on " + where
                + "; try again when the store is available");
    }

    /** Ends a penalty and forgets the violations, and the count of the limit with them. */
    public void clearPenalty(String subject, String limit) {
        requireDone(admin.penalties().clear(counted(subject), limit, change), subject, limit);
    }

    /** Revokes an API key for good. */
    public void revokeKey(String id) {
        admin.keys().revoke(id, change);
    }

    // Backups and retention

    /** Copies the SQLite files, while requests are decided. */
    public List<Backups.Backup> backUp() {
        Backups backups = services.backups();
        if (backups == null) {
            throw new UnavailableException(
                    "rate limits are not kept in an SQLite file, so there is nothing to copy here;"
                            + " back up PostgreSQL with its own tools");
        }
        List<Backups.Backup> made = UnavailableException.unlessDone(backups::create);
        made.forEach(backup -> admin.changes().backedUp(backup.name(), change));
        return made;
    }

    /** Drops the months that are old enough, as it is done every hour. Logged before: what is gone is gone. */
    public RetentionView.Run runRetention() {
        Retention retention = require(services.retention());
        admin.changes().retentionBegins(change);
        return RetentionView.Run.of(UnavailableException.unlessDone(retention::run));
    }

    static Retention require(@Nullable Retention retention) {
        if (retention == null) {
            throw new UnavailableException(
                    "there is no audit trail to drop, because rate limits are not kept in a database;"
                            + " set ratelimit.store.type to sqlite or postgresql");
        }
        return retention;
    }
}
