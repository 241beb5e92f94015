package dev.ratelimit.data;

import java.util.List;
import java.util.Optional;
import org.springframework.data.annotation.Id;
import org.springframework.data.jdbc.repository.query.Modifying;
import org.springframework.data.jdbc.repository.query.Query;
import org.springframework.data.relational.core.mapping.Table;
import org.springframework.data.repository.Repository;
import org.springframework.data.repository.query.Param;

/**
 * An entry of the change feed. Revisions ascend in the order in which changes were committed.
 *
 * @param kind one of the constants
 * @param name the limit or the rule; the user; the id of the API key; the subject
 */
@Table("rate_limit_changes")
record ChangeRow(@Id long revision, String kind, String name, long changedAt) {

    static final long FIRST_REVISION = 1;

    static final String LIMIT = "limit";
    static final String RULE = "rule";
    static final String QUOTA = "quota";
    static final String KEY = "key";
    static final String RESET = "reset";

    interface Rows extends Repository<ChangeRow, Long> {

        List<ChangeRow> findByRevisionGreaterThanEqualOrderByRevision(long revision);

        Optional<ChangeRow> findFirstByOrderByRevisionDesc();

        /** The database assigns the revision. */
        @Modifying
        @Query("INSERT INTO #{#qualifiedTableName} (kind, name) VALUES (:kind, :name)")
        void add(@Param("kind") String kind, @Param("name") String name);

        /** Deletes old changes, but never the newest: by that one, readers know that they have missed nothing. */
        @Modifying
        @Query("""
                DELETE FROM #{#qualifiedTableName}
                WHERE changed_at < :before AND revision < (SELECT max(revision) FROM #{#qualifiedTableName})
                """)
        void deleteOlderThan(@Param("before") long before);
    }
}
