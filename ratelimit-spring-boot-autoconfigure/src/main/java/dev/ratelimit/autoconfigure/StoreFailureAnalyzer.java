package dev.ratelimit.autoconfigure;

import dev.ratelimit.store.LimitStoreException;
import org.springframework.boot.diagnostics.AbstractFailureAnalyzer;
import org.springframework.boot.diagnostics.FailureAnalysis;

/** Reports that the store could not be opened, and names the properties that locate it. */
final class StoreFailureAnalyzer extends AbstractFailureAnalyzer<LimitStoreException> {

    @Override
    protected FailureAnalysis analyze(Throwable rootFailure, LimitStoreException cause) {
        return new FailureAnalysis(
                "The rate limit store cannot be opened: " + cause.getMessage(),
                "Check that the database is reachable, or set ratelimit.store.type, ratelimit.store.sqlite.path or"
                        + " ratelimit.store.postgresql.url. The store is required at startup;"
                        + " ratelimit.on-failure applies to a store that fails later.",
                cause);
    }
}
