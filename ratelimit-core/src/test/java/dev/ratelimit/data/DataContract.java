package dev.ratelimit.data;

import static org.assertj.core.api.Assertions.assertThat;

import dev.ratelimit.RateLimiter;
import dev.ratelimit.Subject;
import dev.ratelimit.admin.ChangeLog;
import dev.ratelimit.admin.RateLimitAdmin;
import dev.ratelimit.admin.version.Change;
import dev.ratelimit.caller.Quota;
import dev.ratelimit.caller.Tiers;
import dev.ratelimit.engine.StoreRateLimiter;
import dev.ratelimit.policy.PolicyConfiguration;
import dev.ratelimit.policy.Rule;
import dev.ratelimit.policy.RuleBook.MatchMode;
import dev.ratelimit.store.LimitStore;
import dev.ratelimit.store.jdbc.DatabaseProduct;
import dev.ratelimit.testing.SettableClock;
import java.time.Duration;
import java.time.ZoneId;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.MethodOrderer;
import org.junit.jupiter.api.Order;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestMethodOrder;
import org.springframework.web.util.pattern.PathPatternParser;

/** The shared parts of the suites of this package: an instance on a database, with something configured. */
@TestMethodOrder(MethodOrderer.OrderAnnotation.class)
abstract class DataContract {

    protected static final Subject ALICE = Subject.user("alice");
    protected static final Change OPS = Change.by("ops");

    /** Polls too rarely to notice anything during a test. */
    protected static final Duration NEVER = Duration.ofDays(1);

    protected static final PolicyConfiguration CONFIGURED = new PolicyConfiguration(
            Map.of(
                    "standard", Map.of("algorithm", "fixed-window", "max-requests", "10", "window", "1h"),
                    "small", Map.of("base", "standard", "max-requests", "2")),
            List.of(
                    Rule.named("everything").limits("standard").key("user").build(),
                    Rule.named("tenants")
                            .path("/tenants/**")
                            .limits("small")
                            .expression("#request.secure")
                            .build()),
            new Tiers(
                    "free",
                    Map.of("ROLE_GOLD", "premium"),
                    Map.of(
                            "premium",
                            new Quota(null, null, 100L, null, null, null),
                            "enterprise",
                            Quota.NONE,
                            "partner",
                            Quota.NONE),
                    ZoneId.of("UTC")),
            MatchMode.ALL,
            PathPatternParser.defaultInstance);

    protected final SettableClock clock = new SettableClock();
    private final List<AutoCloseable> opened = new ArrayList<>();
    protected TestDatabase database;
    protected StoredPolicies policies;
    protected RateLimiter limiter;
    protected RateLimitAdmin admin;

    protected abstract TestDatabase create();

    protected abstract DatabaseProduct product();

    @BeforeEach
    void open() {
        database = create();
        policies = instance(NEVER, false, ChangeListener.NONE);
        LimitStore store = closedLater(database.store(clock));
        limiter = closedLater(StoreRateLimiter.builder(store, policies.limits()).build());
        admin = new RateLimitAdmin(policies, limiter);
    }

    @AfterEach
    void close() throws Exception {
        for (int i = opened.size() - 1; i >= 0; i--) {
            opened.get(i).close();
        }
    }

    protected <T extends AutoCloseable> T closedLater(T one) {
        opened.add(one);
        return one;
    }

    /** Another instance of the application. */
    protected StoredPolicies instance(Duration pollInterval, boolean listen, ChangeListener listener) {
        return closedLater(new StoredPolicies(
                database.open(),
                CONFIGURED,
                new StoredPolicies.Options(pollInterval, listen, List.of(listener), clock)));
    }

    protected static Map<String, String> window(long maxRequests) {
        return Map.of("algorithm", "fixed-window", "max-requests", String.valueOf(maxRequests), "window", "1h");
    }

    protected static long capacity(StoredPolicies policies, String limit) {
        return policies.limits().get(limit).capacity();
    }

    protected static List<String> rules(StoredPolicies policies) {
        return policies.current().rules().rules().stream().map(Rule::name).toList();
    }

    /** The scripts list the keywords once more, as a constraint. */
    @Test
    void changesOfEveryKindAreLogged() {
        List<ChangeLog.Kind> kinds = List.of(ChangeLog.Kind.values());
        for (ChangeLog.Kind kind : kinds) {
            policies.run(transaction -> transaction.log(new ChangeLog.Target("test", kind, "any"), OPS, null, null));
        }

        assertThat(admin.changes().list(ChangeLog.Query.newest(100)))
                .extracting(entry -> entry.target().kind())
                .containsExactlyInAnyOrderElementsOf(kinds);
    }

    @Test
    @Order(1)
    void talksToTheDatabaseThatItIsTestedFor() {
        assertThat(DatabaseProduct.of(policies.database().dataSource())).isEqualTo(product());
    }
}
