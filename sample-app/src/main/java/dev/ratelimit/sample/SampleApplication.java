package dev.ratelimit.sample;

import dev.ratelimit.Decision;
import dev.ratelimit.Limit;
import dev.ratelimit.Limits;
import dev.ratelimit.Subject;
import dev.ratelimit.engine.StoreRateLimiter;
import dev.ratelimit.schema.Schema;
import dev.ratelimit.store.jdbc.SqliteFile;
import dev.ratelimit.store.jdbc.SqliteLimitStore;
import java.io.PrintStream;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;

/**
 * Tries to log in seven times under a limit of five a minute that is kept in an SQLite file. Run it twice within a
 * minute: the second run is denied from the start, since the count survives.
 */
public final class SampleApplication {

    private SampleApplication() {}

    /** Takes the path of the file as its only argument; {@code ratelimit.db} in the working directory without one. */
    public static void main(String[] args) {
        SqliteFile file = SqliteFile.at(Path.of(args.length > 0 ? args[0] : "ratelimit.db"));
        Schema.migrate(file);
        Limit login = Limit.named("login").fixedWindow(5, Duration.ofMinutes(1)).build();
        try (SqliteLimitStore store = new SqliteLimitStore(file);
                StoreRateLimiter limiter = new StoreRateLimiter(store, Limits.of(login))) {
            tryToLogIn(limiter, System.out);
            System.out.println("The count is in " + file.path());
        }
    }

    private static void tryToLogIn(StoreRateLimiter limiter, PrintStream out) {
        Subject alice = Subject.user("alice");
        for (int attempt = 1; attempt <= 7; attempt++) {
            Decision decision = limiter.decide(alice, "login");
            out.printf(
                    "attempt %d by %s: %s, %d remaining%s%n",
                    attempt,
                    alice,
                    decision.allowed() ? "allowed" : "denied",
                    decision.remaining(),
                    decision.allowed()
                            ? ""
                            : ", try again in " + decision.retryAfterSeconds() + " s (at "
                                    + Instant.ofEpochSecond(decision.at().getEpochSecond())
                                            .plusSeconds(decision.retryAfterSeconds())
                                    + ")");
        }
    }
}
