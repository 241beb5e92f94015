package guide;

// region imports
import dev.ratelimit.Decision;
import dev.ratelimit.Limit;
import dev.ratelimit.LimitRequest;
import dev.ratelimit.Limits;
import dev.ratelimit.RateLimiter;
import dev.ratelimit.Reservation;
import dev.ratelimit.Subject;
import dev.ratelimit.algorithm.FixedWindow;
import dev.ratelimit.engine.Grouping;
import dev.ratelimit.engine.StoreRateLimiter;
import dev.ratelimit.schema.Schema;
import dev.ratelimit.store.LimitStore;
import dev.ratelimit.store.postgresql.PostgresLimitStore;
import dev.ratelimit.store.sqlite.SqliteFile;
import dev.ratelimit.store.sqlite.SqliteLimitStore;
import dev.ratelimit.upkeep.Upkeep;
import java.nio.file.Path;
import java.time.Duration;
import java.util.concurrent.CompletionStage;
import java.util.function.BooleanSupplier;
import javax.sql.DataSource;
// endregion

/** The code of docs/core.md. */
final class PlainJava {

    private PlainJava() {}

    static Decision quickstart(Path path) {
        // region quickstart
        SqliteFile file = SqliteFile.at(path); // such as Path.of("ratelimit.db")
        Schema.migrate(file); // creates the tables, or updates them

        Limit login = Limit.named("login")
                .algorithm(new FixedWindow(5, Duration.ofMinutes(1)))
                .penalty(3, Duration.ofMinutes(30)) // after the third violation
                .build();

        try (LimitStore store = new SqliteLimitStore(file);
                StoreRateLimiter limiter =
                        StoreRateLimiter.builder(store, Limits.of(login)).build()) {
            Decision decision = limiter.decide(Subject.user("alice"), "login");
            if (!decision.allowed()) {
                System.out.println("Try again in " + decision.retryAfterSeconds() + " seconds");
            }
            return decision;
        }
        // endregion
    }

    static StoreRateLimiter onPostgres(DataSource dataSource, Limits limits) {
        // region postgresql
        Duration deadline = Duration.ofMillis(100);
        Schema.migrate(dataSource, "ratelimit");
        LimitStore store = new PostgresLimitStore(dataSource, "ratelimit").withDeadline(deadline);
        StoreRateLimiter limiter = StoreRateLimiter.builder(store, limits)
                .grouping(Grouping.DEFAULT.withGroupsInFlight(2).withDeadline(deadline))
                .instances(3) // how many share the limits
                .build();
        // endregion
        return limiter;
    }

    static CompletionStage<String> async(RateLimiter limiter, Subject user) {
        // region async
        CompletionStage<String> answer = limiter.decideAsync(LimitRequest.of(user, "login"))
                .thenApply(decision -> decision.allowed() ? "welcome" : "too many attempts");
        // endregion
        return answer;
    }

    static Decision several(RateLimiter limiter, Subject user, Subject address) {
        // region several
        Decision decision =
                limiter.decide(LimitRequest.of(user, "uploads").cost(3).and(address, "traffic"));
        // endregion
        return decision;
    }

    static void settle(RateLimiter limiter, Subject user, BooleanSupplier passwordIsRight) {
        // region settle
        Reservation attempt = limiter.reserve(user, "login");
        if (attempt.decision().allowed()) {
            if (passwordIsRight.getAsBoolean()) {
                attempt.refund(); // only failures count
            } else {
                attempt.commit();
            }
        }
        // endregion
    }

    static Upkeep upkeep(LimitStore store) {
        // region upkeep
        Upkeep upkeep = new Upkeep(store, Duration.ofHours(1)).every(Duration.ofMinutes(10));
        // endregion
        return upkeep;
    }
}
