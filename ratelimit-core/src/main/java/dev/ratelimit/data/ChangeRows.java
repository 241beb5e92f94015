package dev.ratelimit.data;

import java.util.List;
import java.util.Optional;
import org.springframework.data.jdbc.repository.query.Modifying;
import org.springframework.data.jdbc.repository.query.Query;
import org.springframework.data.repository.Repository;
import org.springframework.data.repository.query.Param;

/** The table {@code rate_limit_changes}. */
public interface ChangeRows extends Repository<ChangeRow, Long> {

    List<ChangeRow> findByRevisionGreaterThanEqualOrderByRevision(long revision);

    Optional<ChangeRow> findFirstByOrderByRevisionDesc();

    /** The revision is given by the database. */
    @Modifying
    @Query("INSERT INTO #{#qualifiedTableName} (kind, name) VALUES (:kind, :name)")
    void add(@Param("kind") String kind, @Param("name") String name);

    /** Deletes old changes, but never the newest: it tells readers that they have missed nothing. */
    @Modifying
    @Query("""
            DELETE FROM #{#qualifiedTableName}
            WHERE changed_at < :before AND revision < (SELECT max(revision) FROM #{#qualifiedTableName})
            """)
    void deleteOlderThan(@Param("before") long before);
}
