package dev.ratelimit.admin;

import dev.ratelimit.Micros;
import dev.ratelimit.RateLimiter;
import dev.ratelimit.Subject;
import dev.ratelimit.data.QuotaRow;
import dev.ratelimit.data.StoredAccounts;
import dev.ratelimit.data.StoredPolicies;
import dev.ratelimit.data.StoredQuota;
import dev.ratelimit.policy.Account;
import dev.ratelimit.policy.Quota;
import java.time.Instant;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** Lists and changes the tiers, quotas and blocks of users. */
public final class QuotaAdmin {

    private static final Logger log = LoggerFactory.getLogger(QuotaAdmin.class);

    private final StoredPolicies policies;
    private final Writes writes;
    private final RateLimiter limiter;

    QuotaAdmin(StoredPolicies policies, Writes writes, RateLimiter limiter) {
        this.policies = policies;
        this.writes = writes;
        this.limiter = limiter;
    }

    /** All users of whom something is stored, by name. */
    public List<UserQuota> list() {
        return policies.database().quotas().findAllByOrderByUserId().stream()
                .map(this::userQuota)
                .toList();
    }

    public Optional<UserQuota> find(String user) {
        return policies.database().quotas().findByUserId(user).map(this::userQuota);
    }

    private UserQuota userQuota(QuotaRow row) {
        return new UserQuota(
                StoredAccounts.account(row, Quota.NONE), row.changedBy(), Micros.toInstant(row.changedAt()));
    }

    /**
     * Gives a user a tier and numbers; a block stays as it is.
     *
     * @param tier the tier, or {@code null} for what the authorities say
     * @param quota what overrides the numbers of the tier
     */
    public void set(String user, @Nullable String tier, Quota quota, String by) {
        requireUser(user);
        Quota unused = StoredQuota.require(quota);
        writes.requireTier(tier);
        writes.change(() -> {
            QuotaRow before = row(user);
            write(new QuotaRow(
                    user,
                    tier,
                    quota.perSecond(),
                    quota.perHour(),
                    quota.perDay(),
                    quota.perMonth(),
                    quota.burst(),
                    StoredQuota.text(quota.zone()),
                    before.blockedUntil(),
                    before.blockReason(),
                    Change.by(by).by(),
                    writes.now()));
        });
    }

    /** Forgets the user's tier and numbers; a block stays as it is. */
    public void remove(String user, String by) {
        set(user, null, Quota.NONE, by);
    }

    /** Denies all requests of the user until then. */
    public void block(String user, Instant until, String reason, String by) {
        requireUser(user);
        if (!until.isAfter(policies.clock().instant())) {
            throw new IllegalArgumentException(
                    "the block of '" + user + "' ends at " + until + "; write a moment in the future");
        }
        writes.change(() -> write(withBlock(row(user), Micros.of(until), reason, by)));
        log.info("The user {} is blocked until {} by {}: {}", user, until, by, reason);
    }

    public void unblock(String user, String by) {
        writes.change(() -> write(withBlock(row(user), 0, null, by)));
        log.info("The user {} is unblocked by {}", user, by);
    }

    private QuotaRow withBlock(QuotaRow row, long until, @Nullable String reason, String by) {
        return new QuotaRow(
                row.userId(),
                row.tier(),
                row.perSecond(),
                row.perHour(),
                row.perDay(),
                row.perMonth(),
                row.burst(),
                row.zone(),
                until,
                reason,
                Change.by(by).by(),
                writes.now());
    }

    private static void requireUser(String user) {
        if (user.isBlank()) {
            throw new IllegalArgumentException("the user is empty; write the name of a principal");
        }
    }

    private QuotaRow row(String user) {
        return policies.database()
                .quotas()
                .findByUserId(user)
                .orElseGet(() -> new QuotaRow(user, null, null, null, null, null, null, null, 0, null, "", 0));
    }

    /** A row that says nothing is deleted. */
    private void write(QuotaRow row) {
        boolean exists = policies.database().quotas().findByUserId(row.userId()).isPresent();
        Account account = StoredAccounts.account(row, Quota.NONE);
        if (account.tier() == null && StoredQuota.isEmpty(row) && account.blockedUntil() == null) {
            policies.database().quotas().deleteById(row.userId());
        } else if (exists) {
            policies.database().rows().update(row);
        } else {
            policies.database().rows().insert(row);
        }
    }

    /** What the user has used of the quota, without the requests that came with an API key that has its own. */
    public Usage usage(String user) {
        return usage(user, Set.of());
    }

    /**
     * What the user has used of the quota.
     *
     * @param authorities what the user was granted, which may stand for a tier
     */
    public Usage usage(String user, Set<String> authorities) {
        return QuotaUsage.of(
                policies.current().tiers().caller(user, authorities, null, policies.accounts()),
                Subject.user(user),
                limiter);
    }
}
