package guide;

// region incident
import dev.ratelimit.admin.Explanation;
import dev.ratelimit.admin.Inquiry;
import dev.ratelimit.admin.RateLimitAdmin;
import dev.ratelimit.admin.version.Change;
import dev.ratelimit.policy.Action;
import dev.ratelimit.policy.Rule;
import java.time.Duration;
import java.time.Instant;
import java.util.Map;
import org.springframework.stereotype.Service;

@Service
class Incident {

    private final RateLimitAdmin admin;

    Incident(RateLimitAdmin admin) {
        this.admin = admin;
    }

    /** Halves a limit for an hour; then the version before applies again by itself. */
    void slowDown(String by) {
        admin.limits()
                .set(
                        "api",
                        Map.of("algorithm", "sliding-window", "max-requests", "50", "window", "1m"),
                        Change.by(by)
                                .until(Instant.now().plus(Duration.ofHours(1)))
                                .because("database under load"));
    }

    /** Rejects a network with 403, before authentication. */
    void blockNetwork(String network, String by) {
        admin.rules()
                .set(
                        Rule.named("incident")
                                .priority(1000)
                                .addresses(network)
                                .action(Action.BLOCK)
                                .build(),
                        Change.by(by).because("scraping"));
    }

    void blockUser(String user, String by) {
        admin.quotas()
                .block(
                        user,
                        Change.by(by)
                                .until(Instant.now().plus(Duration.ofDays(1)))
                                .because("chargeback"));
    }

    /** Why does this request get its answer? Consumes nothing. */
    Explanation why(String path, String address, String user) {
        return admin.explain(Inquiry.of("GET", path).from(address).user(user));
    }

    void undo(String by) {
        admin.limits().remove("api", Change.by(by));
        admin.rules().remove("incident", Change.by(by));
    }
}
// endregion
