package dev.ratelimit.data;

import org.springframework.data.annotation.Id;
import org.springframework.data.relational.core.mapping.Table;

/**
 * That something has changed. Revisions ascend in the order in which changes were committed.
 *
 * @param kind one of the constants
 * @param name of the limit or the rule; the user, the id of the key, the subject
 */
@Table("rate_limit_changes")
public record ChangeRow(@Id long revision, String kind, String name, long changedAt) {

    public static final long FIRST_REVISION = 1;

    public static final String LIMIT = "limit";
    public static final String RULE = "rule";
    public static final String QUOTA = "quota";
    public static final String KEY = "key";
    public static final String RESET = "reset";
}
