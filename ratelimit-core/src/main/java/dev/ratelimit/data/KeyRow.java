package dev.ratelimit.data;

import dev.ratelimit.admin.KeyInfo;
import dev.ratelimit.admin.NewKey;
import dev.ratelimit.policy.ApiKey;
import dev.ratelimit.policy.Quota;
import dev.ratelimit.support.Micros;
import java.time.Instant;
import java.util.Collection;
import java.util.List;
import java.util.Optional;
import org.jspecify.annotations.Nullable;
import org.springframework.data.annotation.Id;
import org.springframework.data.jdbc.repository.query.Modifying;
import org.springframework.data.jdbc.repository.query.Query;
import org.springframework.data.relational.core.mapping.Embedded;
import org.springframework.data.relational.core.mapping.Embedded.OnEmpty;
import org.springframework.data.relational.core.mapping.Table;
import org.springframework.data.repository.Repository;
import org.springframework.data.repository.query.Param;

/** An API key: enough to recognise it, and nothing to make it from. */
@Table("api_keys")
record KeyRow(
        @Id String id,
        String keyHash,
        String name,
        String userId,
        @Nullable String tier,
        @Embedded(onEmpty = OnEmpty.USE_EMPTY) QuotaColumns quota,
        @Embedded(onEmpty = OnEmpty.USE_EMPTY) Life life,
        @Embedded(onEmpty = OnEmpty.USE_EMPTY) Use use) {

    /** From creation to revocation. Times are microseconds; zero means never. */
    record Life(
            String createdBy,
            long createdAt,
            long expiresAt,
            long revokedAt,
            @Nullable String revokedBy) {

        boolean isRevoked() {
            return revokedAt != 0;
        }
    }

    /** The uses that are written. */
    record Use(long lastUsedAt, long totalRequests) {

        static final Use NONE = new Use(0, 0);
    }

    static KeyRow of(String id, String keyHash, NewKey key, String by, Instant now) {
        Instant expiresAt = key.expiresAt();
        return new KeyRow(
                id,
                keyHash,
                key.name(),
                key.owner(),
                key.tier(),
                QuotaColumns.of(key.quota()),
                new Life(by, Micros.of(now), expiresAt == null ? 0 : Micros.of(expiresAt), 0, null),
                Use.NONE);
    }

    /**
     * @param otherwise the quota, if that of the row is invalid
     */
    ApiKey apiKey(Quota otherwise) {
        return new ApiKey(id, name, userId, tier, quota.quotaOr(otherwise));
    }

    KeyInfo info() {
        return new KeyInfo(
                apiKey(Quota.NONE),
                life.createdBy,
                Micros.toInstant(life.createdAt),
                moment(life.expiresAt),
                moment(life.revokedAt),
                life.revokedBy,
                moment(use.lastUsedAt),
                use.totalRequests);
    }

    private static @Nullable Instant moment(long micros) {
        return micros == 0 ? null : Micros.toInstant(micros);
    }

    interface Rows extends Repository<KeyRow, String> {

        List<KeyRow> findAllByOrderByLifeCreatedAtAscIdAsc();

        List<KeyRow> findByUserIdOrderByLifeCreatedAtAscIdAsc(String user);

        List<KeyRow> findByLifeRevokedAt(long revokedAt);

        List<KeyRow> findByIdIn(Collection<String> ids);

        Optional<KeyRow> findById(String id);

        /** Writes no other column: uses may be added at the same time. */
        @Modifying
        @Query("UPDATE #{#qualifiedTableName} SET revoked_at = :at, revoked_by = :by WHERE id = :id")
        void revoke(@Param("id") String id, @Param("at") long at, @Param("by") String by);

        /** Writes no other column, so that it is not taken for a change of the key. */
        @Modifying
        @Query("""
                UPDATE #{#qualifiedTableName}
                SET total_requests = total_requests + :requests,
                    last_used_at = CASE WHEN last_used_at < :at THEN :at ELSE last_used_at END
                WHERE id = :id
                """)
        void addUse(@Param("id") String id, @Param("requests") long requests, @Param("at") long at);
    }
}
