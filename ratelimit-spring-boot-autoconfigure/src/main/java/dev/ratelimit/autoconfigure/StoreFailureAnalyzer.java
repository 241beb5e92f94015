package dev.ratelimit.autoconfigure;

import dev.ratelimit.store.LimitStoreException;
import org.springframework.boot.diagnostics.AbstractFailureAnalyzer;
import org.springframework.boot.diagnostics.FailureAnalysis;

/** Says where the store is that could not be opened, and which properties say where it should be. */
final class StoreFailureAnalyzer extends AbstractFailureAnalyzer<LimitStoreException> {

    @Override
    protected FailureAnalysis analyze(Throwable rootFailure, LimitStoreException cause) {
        return new FailureAnalysis(
                "The store of rate limits cannot be opened: " + cause.getMessage(),
                "Make sure that it can be, or say where it is: ratelimit.store.type, ratelimit.store.sqlite.path,"
                        + " ratelimit.store.postgresql.url. At the start of an application its tables are looked at;"
                        + " what ratelimit.on-failure says is for a store that fails later.",
                cause);
    }
}
