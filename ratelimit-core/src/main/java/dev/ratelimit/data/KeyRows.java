package dev.ratelimit.data;

import java.util.Collection;
import java.util.List;
import java.util.Optional;
import org.springframework.data.jdbc.repository.query.Modifying;
import org.springframework.data.jdbc.repository.query.Query;
import org.springframework.data.repository.Repository;
import org.springframework.data.repository.query.Param;

/** The table {@code api_keys}. */
public interface KeyRows extends Repository<KeyRow, String> {

    List<KeyRow> findAllByOrderByCreatedAtAscIdAsc();

    List<KeyRow> findByUserIdOrderByCreatedAtAscIdAsc(String user);

    List<KeyRow> findByRevokedAt(long revokedAt);

    List<KeyRow> findByIdIn(Collection<String> ids);

    Optional<KeyRow> findById(String id);

    /** Writes no other column: uses may be added at the same time. */
    @Modifying
    @Query("UPDATE #{#qualifiedTableName} SET revoked_at = :at, revoked_by = :by WHERE id = :id")
    void revoke(@Param("id") String id, @Param("at") long at, @Param("by") String by);

    /** Writes no other column, so that nobody takes it for a change of the key. */
    @Modifying
    @Query("""
            UPDATE #{#qualifiedTableName}
            SET total_requests = total_requests + :requests,
                last_used_at = CASE WHEN last_used_at < :at THEN :at ELSE last_used_at END
            WHERE id = :id
            """)
    void addUse(@Param("id") String id, @Param("requests") long requests, @Param("at") long at);
}
