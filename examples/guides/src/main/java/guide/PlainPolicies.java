package guide;

// region imports
import dev.ratelimit.RateLimiter;
import dev.ratelimit.admin.NewApiKey;
import dev.ratelimit.admin.RateLimitAdmin;
import dev.ratelimit.admin.version.Change;
import dev.ratelimit.data.PolicyDatabase;
import dev.ratelimit.data.StoredPolicies;
import dev.ratelimit.engine.StoreRateLimiter;
import dev.ratelimit.policy.PolicyConfiguration;
import dev.ratelimit.store.LimitStore;
import java.time.Duration;
import java.time.Instant;
import java.util.Map;
import javax.sql.DataSource;
// endregion

/** The code of docs/core.md on changes while running. */
final class PlainPolicies {

    private PlainPolicies() {}

    static String change(DataSource dataSource, LimitStore store, PolicyConfiguration configuration) {
        // region change
        try (StoredPolicies policies = new StoredPolicies(
                PolicyDatabase.postgres(dataSource, "ratelimit"), // or PolicyDatabase.sqlite(file)
                configuration,
                StoredPolicies.Options.DEFAULT)) { // polls every second, and listens on PostgreSQL
            RateLimiter limiter =
                    StoreRateLimiter.builder(store, policies.limits()).build();
            RateLimitAdmin admin = new RateLimitAdmin(policies, limiter);

            admin.limits()
                    .set(
                            "api",
                            Map.of("algorithm", "token-bucket", "burst", "50", "refill", "10/s"),
                            Change.by("ops")
                                    .until(Instant.now().plus(Duration.ofHours(6)))
                                    .because("launch day"));
            admin.quotas()
                    .block(
                            "mallory",
                            Change.by("ops")
                                    .until(Instant.now().plus(Duration.ofDays(1)))
                                    .because("scraping"));
            return admin.keys()
                    .create(NewApiKey.of("build server", "alice"), Change.by("ops"))
                    .secret();
        }
        // endregion
    }
}
