package dev.ratelimit.admin;

import dev.ratelimit.Limit;
import dev.ratelimit.Penalties;
import dev.ratelimit.RateLimiter;
import dev.ratelimit.admin.version.Change;
import dev.ratelimit.caller.Account;
import dev.ratelimit.caller.Quota;
import dev.ratelimit.policy.Policy;
import dev.ratelimit.support.LogText;
import dev.ratelimit.support.UserName;
import java.time.Instant;
import java.time.ZoneId;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** Lists and changes the tiers, quotas and blocks of users. */
public final class QuotaAdmin {

    /**
     * The stored account of a user.
     *
     * @param by the author of the last change
     * @param at the time of the last change
     * @param lastRequestAt the last web request of the user that is stored; {@code null} for none
     * @param exceededCount how many web requests were denied because of the quota, as far as they are stored
     */
    public record UserQuota(
            Account account,
            String by,
            Instant at,
            Instant createdAt,
            @Nullable Instant lastRequestAt,
            long exceededCount) {}

    private static final Logger log = LoggerFactory.getLogger(QuotaAdmin.class);

    private final PolicyStorage storage;
    private final RateLimiter limiter;

    QuotaAdmin(PolicyStorage storage, RateLimiter limiter) {
        this.storage = storage;
        this.limiter = limiter;
    }

    /** All users with a stored tier, quota or block, by name. */
    public List<UserQuota> list() {
        return storage.userQuotas();
    }

    public Optional<UserQuota> find(String user) {
        return storage.userQuota(user);
    }

    /**
     * Sets the tier and the quota of a user. A block stays as it is.
     *
     * @param tier the tier, or {@code null} to derive it from the authorities
     * @param quota overrides the quota of the tier, value by value
     */
    public void set(String user, @Nullable String tier, Quota quota, Change change) {
        String name = nameOf("user", user);
        requireValid(quota);
        requireTier(tier, storage.current());
        set(name, "set", tier, quota, change);
    }

    /** Removes the tier and the quota of a user. A block stays as it is. */
    public void remove(String user, Change change) {
        set(nameOf("user", user), "remove", null, Quota.NONE, change);
    }

    private void set(String user, String action, @Nullable String tier, Quota quota, Change change) {
        change.requireNoExpiry("the quota of '" + user + "'");
        storage.run(transaction -> {
            transaction.log(
                    new ChangeLog.Target(action, ChangeLog.Kind.QUOTA, user),
                    change,
                    ChangeLog.quotaOf(storage.accounts().find(user)),
                    ChangeLog.json(tier, quota));
            transaction.setQuota(user, tier, quota, change.by());
        });
    }

    /** Blocks all requests of a user until the change expires; if it does not, until the user is {@linkplain #unblock unblocked}. */
    public void block(String user, Change change) {
        String name = nameOf("user", user);
        Instant now = storage.clock().instant();
        Instant end = change.expiresAt();
        if (end != null && !end.isAfter(now)) {
            throw new IllegalArgumentException(
                    "the block of '" + name + "' ends at " + end + "; write a moment in the future");
        }
        Instant until = end == null ? now.plus(Penalties.FOREVER) : end;
        storage.run(transaction -> setBlock(transaction, name, "block", until, change));
        log.info(
                "Blocked user {} until {}, by {}: {}",
                LogText.of(name),
                until,
                LogText.of(change.by()),
                LogText.of(change.reason()));
    }

    /**
     * Ends the block of a user.
     *
     * @throws IllegalArgumentException if the user is not blocked
     */
    public void unblock(String user, Change change) {
        String name = nameOf("user", user);
        change.requireNoExpiry("the end of the block of '" + name + "'");
        storage.run(transaction -> {
            Account account = storage.accounts().find(name);
            if (account == null || !account.isBlocked(storage.clock().instant())) {
                throw new IllegalArgumentException("user '" + name + "' is not blocked");
            }
            setBlock(transaction, name, "unblock", null, change);
        });
        log.info("Unblocked user {}, by {}", LogText.of(name), LogText.of(change.by()));
    }

    private void setBlock(
            PolicyStorage.Transaction transaction, String user, String action, @Nullable Instant until, Change change) {
        String reason = until == null ? null : change.reason();
        transaction.log(
                new ChangeLog.Target(action, ChangeLog.Kind.USER, user),
                change,
                ChangeLog.blockOf(storage.accounts().find(user)),
                ChangeLog.block(until, reason));
        transaction.setBlock(user, until, reason, change.by());
    }

    /** The name as requests have it. */
    static String nameOf(String what, String written) {
        if (written.isBlank()) {
            throw new IllegalArgumentException("the " + what + " is empty; write the name of a principal");
        }
        return UserName.normal(written);
    }

    /** Refuses a quota that no limits can be made of. */
    static void requireValid(Quota quota) {
        List<Limit> unused = quota.limits(ZoneId.of("UTC"));
    }

    /** Refuses an unknown tier: it is a typing error, and would have no quota at all. */
    static void requireTier(@Nullable String tier, Policy policy) {
        Set<String> known = policy.tierNames();
        if (tier != null && !known.contains(tier)) {
            throw new IllegalArgumentException("the tier is '" + tier + "', which no quota, limit, rule or authority"
                    + " mentions; write one of " + String.join(", ", known));
        }
    }

    /** The user's usage of the quota, without requests whose API key has its own quota. */
    public Usage usage(String user) {
        return usage(user, Set.of());
    }

    /**
     * The user's usage of the quota.
     *
     * @param authorities the authorities of the user, which may imply a tier
     */
    public Usage usage(String user, Set<String> authorities) {
        return QuotaUsage.of(storage.current().tiers().caller(user, authorities, null, storage.accounts()), limiter);
    }
}
