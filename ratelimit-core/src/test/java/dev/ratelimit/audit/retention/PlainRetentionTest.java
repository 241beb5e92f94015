package dev.ratelimit.audit.retention;

/** On tables without partitions, where rows are deleted. */
class PlainRetentionTest extends RetentionContract {

    @Override
    RetentionTestDatabase create() {
        return RetentionTestDatabase.plain();
    }
}
