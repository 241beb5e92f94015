package dev.ratelimit.startup;

import dev.ratelimit.connection.MissingDriverException;
import dev.ratelimit.store.LimitStoreException;
import java.sql.SQLException;
import javax.net.ssl.SSLException;
import org.springframework.boot.diagnostics.AbstractFailureAnalyzer;
import org.springframework.boot.diagnostics.FailureAnalysis;

/** Reports that the store could not be opened, and names the properties that locate it. */
public final class StoreFailureAnalyzer extends AbstractFailureAnalyzer<LimitStoreException> {

    /** The class of SQL states for credentials that are refused. */
    private static final String INVALID_AUTHORIZATION = "28";

    private static final String UNKNOWN_DATABASE = "3D000";

    private static final String TOO_MANY_CONNECTIONS = "53300";

    private static final String UNREACHABLE =
            "Check that the database is reachable, or set ratelimit.store.type, ratelimit.store.sqlite.path or"
                    + " ratelimit.store.postgresql.url. To start without it, set ratelimit.store.required: false;"
                    + " ratelimit.on-failure then applies until the store is available.";

    private static final String NOT_ADMITTED =
            "Check the user and the password: of your DataSource, or in ratelimit.store.postgresql.username and password."
                    + " If they are right, check that pg_hba.conf of the server admits them.";

    private static final String NO_DATABASE =
            "Create the database, or correct its name in the URL: of your DataSource, or in ratelimit.store.postgresql.url.";

    private static final String NO_CONNECTION_LEFT =
            "Allow more connections: the limiter opens up to ten per instance, beside those of your DataSource. With a smaller"
                    + " ratelimit.store.postgresql.pool-size it needs fewer.";

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
        if (findCause(cause, SSLException.class) != null) {
            return NO_TLS;
        }
        SQLException failure = findCause(cause, SQLException.class);
        String state = failure == null ? "" : String.valueOf(failure.getSQLState());
        if (state.startsWith(INVALID_AUTHORIZATION)) {
            return NOT_ADMITTED;
        }
        return switch (state) {
            case UNKNOWN_DATABASE -> NO_DATABASE;
            case TOO_MANY_CONNECTIONS -> NO_CONNECTION_LEFT;
            default -> UNREACHABLE;
        };
    }
}
