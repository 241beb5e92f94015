package dev.ratelimit.data;

import dev.ratelimit.admin.QuotaAdmin;
import dev.ratelimit.policy.Account;
import dev.ratelimit.policy.Quota;
import dev.ratelimit.support.Micros;
import java.time.Instant;
import java.util.Collection;
import java.util.List;
import java.util.Optional;
import org.jspecify.annotations.Nullable;
import org.springframework.data.annotation.Id;
import org.springframework.data.relational.core.mapping.Embedded;
import org.springframework.data.relational.core.mapping.Embedded.OnEmpty;
import org.springframework.data.relational.core.mapping.Table;
import org.springframework.data.repository.Repository;

/**
 * The tier, the quota and the block of a user.
 *
 * @param blockedUntil the end of the block in microseconds; zero for none
 */
@Table("user_quotas")
record QuotaRow(
        @Id String userId,
        @Nullable String tier,
        @Embedded(onEmpty = OnEmpty.USE_EMPTY) QuotaColumns quota,
        long blockedUntil,
        @Nullable String blockReason,
        String changedBy,
        long changedAt) {

    /** A row without tier, quota and block. */
    static QuotaRow of(String user) {
        return new QuotaRow(user, null, QuotaColumns.NONE, 0, null, "", 0);
    }

    QuotaRow withQuota(@Nullable String newTier, Quota newQuota) {
        return new QuotaRow(
                userId, newTier, QuotaColumns.of(newQuota), blockedUntil, blockReason, changedBy, changedAt);
    }

    QuotaRow withBlock(@Nullable Instant until, @Nullable String reason) {
        return new QuotaRow(userId, tier, quota, until == null ? 0 : Micros.of(until), reason, changedBy, changedAt);
    }

    QuotaRow changed(String by, Instant at) {
        return new QuotaRow(userId, tier, quota, blockedUntil, blockReason, by, Micros.of(at));
    }

    boolean isEmpty() {
        return tier == null && quota.isEmpty() && blockedUntil == 0;
    }

    /**
     * @param otherwise the quota, if that of the row is invalid
     */
    Account account(Quota otherwise) {
        return new Account(
                userId,
                tier,
                quota.quotaOr(otherwise),
                blockedUntil == 0 ? null : Micros.toInstant(blockedUntil),
                blockReason);
    }

    QuotaAdmin.UserQuota userQuota() {
        return new QuotaAdmin.UserQuota(account(Quota.NONE), changedBy, Micros.toInstant(changedAt));
    }

    interface Rows extends Repository<QuotaRow, String> {

        List<QuotaRow> findAllByOrderByUserId();

        List<QuotaRow> findByUserIdIn(Collection<String> users);

        Optional<QuotaRow> findByUserId(String user);

        void deleteById(String user);
    }
}
