package guide;

// region imports
import dev.ratelimit.Subject;
import dev.ratelimit.admin.ApiKeyAdmin.IssuedKey;
import dev.ratelimit.admin.ChangeLog;
import dev.ratelimit.admin.Explanation;
import dev.ratelimit.admin.Inquiry;
import dev.ratelimit.admin.NewApiKey;
import dev.ratelimit.admin.RateLimitAdmin;
import dev.ratelimit.admin.version.Change;
import dev.ratelimit.caller.Quota;
import dev.ratelimit.policy.Action;
import dev.ratelimit.policy.Rule;
import java.time.Duration;
import java.time.Instant;
import java.util.Map;
// endregion

/** The code of docs/policy.md. */
final class AdminTour {

    private AdminTour() {}

    static void limits(RateLimitAdmin admin, Instant launchEnds) {
        // region limits
        // with the properties of the configuration
        admin.limits()
                .set(
                        "api",
                        Map.of("algorithm", "token-bucket", "burst", "50", "refill", "10/s"),
                        Change.by("ops").until(launchEnds).because("launch day"));
        // only one property; the others come from the configuration
        admin.limits().set("api", Map.of("max-requests", "50"), Change.by("ops").noting(Map.of("ticket", "OPS-7")));
        admin.limits().history("api"); // every version: content, author, time, reason
        admin.limits().rollback("api", 1, Change.by("ops"));
        admin.limits().remove("api", Change.by("ops")); // the configuration applies again
        // endregion
    }

    static void switches(RateLimitAdmin admin) {
        // region switches
        admin.limits().disable("api", Change.by("ops")); // neither asked nor charged
        admin.limits().enable("api", Change.by("ops"));
        admin.disable(Change.by("ops").because("incident 7")); // everything
        admin.enable(Change.by("ops"));
        admin.limits().history("*"); // who switched everything, when and why
        // endregion
    }

    static void rules(RateLimitAdmin admin) {
        // region rules
        Rule scraper = Rule.named("scraper")
                .priority(100)
                .addresses("203.0.113.0/24")
                .action(Action.BLOCK)
                .build();
        admin.rules().set(scraper, Change.by("ops"));
        // endregion
    }

    static void users(RateLimitAdmin admin) {
        // region users
        Quota perHour = new Quota(null, 5_000L, null, null, null, null);
        admin.quotas().set("alice", "premium", perHour, Change.by("ops"));
        admin.quotas()
                .block(
                        "mallory",
                        Change.by("ops")
                                .until(Instant.now().plus(Duration.ofDays(1)))
                                .because("chargeback"));
        admin.quotas().block("trudy", Change.by("ops").because("fraud")); // without an end
        admin.quotas().usage("alice"); // today, this month, and the remainder
        // endregion
    }

    static String keys(RateLimitAdmin admin) {
        // region keys
        IssuedKey key =
                admin.keys().create(NewApiKey.of("build server", "alice").tier("premium"), Change.by("ops"));
        String secret = key.secret(); // shown this once
        admin.keys().revoke(key.id(), Change.by("ops"));
        // endregion
        return secret;
    }

    static Explanation support(RateLimitAdmin admin) {
        // region support
        admin.penalties().list();
        admin.penalties().note(Subject.user("alice"), "login", Map.of("ticket", "OPS-8"), Change.by("ops"));
        admin.reset(Subject.user("alice"), "login", Change.by("ops"));
        admin.changes().list(ChangeLog.Query.newest(50)); // who changed what, when and why
        Explanation why = admin.explain(
                Inquiry.of("POST", "/api/campaigns").from("203.0.113.7").user("alice"));
        // endregion
        return why;
    }
}
