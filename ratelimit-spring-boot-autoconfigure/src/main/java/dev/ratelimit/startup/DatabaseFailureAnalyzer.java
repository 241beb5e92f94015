package dev.ratelimit.startup;

import dev.ratelimit.store.jdbc.DatabaseProduct;
import dev.ratelimit.store.jdbc.UnsupportedDatabaseException;
import org.springframework.boot.diagnostics.AbstractFailureAnalyzer;
import org.springframework.boot.diagnostics.FailureAnalysis;

/** Reports a database that rate limits cannot be kept in: another product, or a version that is too old. */
public final class DatabaseFailureAnalyzer extends AbstractFailureAnalyzer<UnsupportedDatabaseException> {

    private static final String NEWER_SQLITE = """
            SQLite comes with its driver, org.xerial:sqlite-jdbc. Choose one:

                - Use a driver of version %s.0 or later. With spring-boot-starter-parent, set the Maven property
                  sqlite-jdbc.version. With the Gradle plugins of Spring, set ext["sqlite-jdbc.version"].
                - Keep rate limits in PostgreSQL: set ratelimit.store.postgresql.url.\
            """.formatted(DatabaseProduct.SQLITE.oldest());

    @Override
    protected FailureAnalysis analyze(Throwable rootFailure, UnsupportedDatabaseException cause) {
        return new FailureAnalysis("No database for rate limits: " + cause.getMessage() + ".", action(cause), cause);
    }

    /** The remedy, also where another exception says which database it is. */
    static String action(UnsupportedDatabaseException cause) {
        return cause.outdated() == DatabaseProduct.SQLITE ? NEWER_SQLITE : DataSourceFailureAnalyzer.CHOICES;
    }
}
