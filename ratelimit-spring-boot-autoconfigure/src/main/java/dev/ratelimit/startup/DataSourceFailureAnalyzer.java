package dev.ratelimit.startup;

import dev.ratelimit.connection.UnusableDataSourceException;
import dev.ratelimit.store.jdbc.UnsupportedDatabaseException;
import org.springframework.boot.diagnostics.AbstractFailureAnalyzer;
import org.springframework.boot.diagnostics.FailureAnalysis;

/** Lists the ways to choose a database for rate limits. */
public final class DataSourceFailureAnalyzer extends AbstractFailureAnalyzer<UnusableDataSourceException> {

    static final String CHOICES = """
            Choose where to keep them:

                - In a PostgreSQL DataSource of your application: annotate its bean with @RateLimitDataSource.
                - In another PostgreSQL database: set ratelimit.store.postgresql.url.
                - In an SQLite file: set ratelimit.store.type to sqlite. Each machine then counts by itself.
                - In memory, as in tests: set ratelimit.store.type to memory. Each process then counts by itself.\
            """;

    @Override
    protected FailureAnalysis analyze(Throwable rootFailure, UnusableDataSourceException cause) {
        return new FailureAnalysis("No database for rate limits: " + cause.getMessage(), action(cause), cause);
    }

    private static String action(UnusableDataSourceException cause) {
        if (cause.getCause() instanceof UnsupportedDatabaseException unsupported) {
            return DatabaseFailureAnalyzer.action(unsupported);
        }
        String advice = cause.advice();
        return advice == null ? CHOICES : advice;
    }
}
