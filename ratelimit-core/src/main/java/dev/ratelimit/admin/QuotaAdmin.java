package dev.ratelimit.admin;

import dev.ratelimit.Limit;
import dev.ratelimit.Penalties;
import dev.ratelimit.RateLimiter;
import dev.ratelimit.caller.Account;
import dev.ratelimit.caller.Quota;
import dev.ratelimit.policy.Policy;
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
    public void set(String user, @Nullable String tier, Quota quota, String by) {
        requireUser(user);
        requireValid(quota);
        requireTier(tier, storage.current());
        String author = Change.by(by).by();
        storage.run(transaction -> transaction.setQuota(user, tier, quota, author));
    }

    /** Removes the tier and the quota of a user. A block stays as it is. */
    public void remove(String user, String by) {
        set(user, null, Quota.NONE, by);
    }

    /** Blocks all requests of a user until then. */
    public void block(String user, Instant until, String reason, String by) {
        requireUser(user);
        if (!until.isAfter(storage.clock().instant())) {
            throw new IllegalArgumentException(
                    "the block of '" + user + "' ends at " + until + "; write a moment in the future");
        }
        String author = Change.by(by).by();
        storage.run(transaction -> transaction.setBlock(user, until, reason, author));
        log.info("Blocked user {} until {}, by {}: {}", user, until, by, reason);
    }

    /** Blocks all requests of a user, until the user is {@linkplain #unblock unblocked}. */
    public void block(String user, String reason, String by) {
        block(user, storage.clock().instant().plus(Penalties.FOREVER), reason, by);
    }

    public void unblock(String user, String by) {
        String author = Change.by(by).by();
        storage.run(transaction -> transaction.setBlock(user, null, null, author));
        log.info("Unblocked user {}, by {}", user, by);
    }

    private static void requireUser(String user) {
        if (user.isBlank()) {
            throw new IllegalArgumentException("the user is empty; write the name of a principal");
        }
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
