package dev.ratelimit.startup;

import dev.ratelimit.connection.MissingDriverException;
import dev.ratelimit.store.LimitStoreException;
import javax.net.ssl.SSLException;
import org.springframework.boot.diagnostics.AbstractFailureAnalyzer;
import org.springframework.boot.diagnostics.FailureAnalysis;

/** Reports that the store could not be opened, and names the properties that locate it. */
public final class StoreFailureAnalyzer extends AbstractFailureAnalyzer<LimitStoreException> {

    private static final String UNREACHABLE =
            "Check that the database is reachable, or set ratelimit.store.type, ratelimit.store.sqlite.path or"
                    + " ratelimit.store.postgresql.url. To start without it, set ratelimit.store.required: false;"
                    + " ratelimit.on-failure then applies until the store is available.";

    private static final String NO_TLS =
            "Check the TLS settings of the driver, in the properties of your DataSource or in ratelimit.store.postgresql.url:"
                    + " sslrootcert must name the certificate of the authority that signed the server's certificate.";

    private static final String NO_DRIVER =
            "Add the driver to your dependencies: org.postgresql:postgresql for PostgreSQL, org.xerial:sqlite-jdbc for an"
                    + " SQLite file. Or set ratelimit.store.type to a store whose driver you have.";

    @Override
    protected FailureAnalysis analyze(Throwable rootFailure, LimitStoreException cause) {
        return new FailureAnalysis(
                "The rate limit store cannot be opened: " + cause.getMessage(), action(cause), cause);
    }

    private String action(LimitStoreException cause) {
        if (cause instanceof MissingDriverException) {
            return NO_DRIVER;
        }
        return findCause(cause, SSLException.class) == null ? UNREACHABLE : NO_TLS;
    }
}
