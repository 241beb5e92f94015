package dev.ratelimit.admin;

import static org.assertj.core.api.Assertions.assertThat;

import dev.ratelimit.Decision;
import dev.ratelimit.LimitDecision;
import dev.ratelimit.LimitRequest;
import dev.ratelimit.Outcome;
import dev.ratelimit.RateLimiter;
import dev.ratelimit.Reservation;
import dev.ratelimit.caller.Tiers;
import dev.ratelimit.policy.Action;
import dev.ratelimit.policy.PolicyConfiguration;
import dev.ratelimit.policy.Rule;
import dev.ratelimit.policy.RuleBook.MatchMode;
import dev.ratelimit.testing.SettableClock;
import java.time.Duration;
import java.time.ZoneId;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.springframework.web.util.pattern.PathPatternParser;

class ExplainerTest {

    private static final Inquiry INQUIRY = Inquiry.of("GET", "/api").user("alice");

    private final Traffic traffic = new Traffic();

    /** Every limit is used up at the first look, and has room at each later one: other requests come and go meanwhile. */
    private static final class Traffic implements RateLimiter {

        private final List<LimitRequest> looks = new ArrayList<>();
        private boolean storeFails;

        @Override
        public Decision peek(LimitRequest request) {
            looks.add(request);
            if (storeFails) {
                return new Decision(
                        Outcome.FAILED, true, 0, List.of(), Duration.ZERO, new IllegalStateException("down"));
            }
            boolean usedUp = looks.size() == 1;
            return Decision.of(
                    0,
                    request.items().stream()
                            .map(item -> new LimitDecision(
                                    item.subject(),
                                    item.limit(),
                                    item.rule(),
                                    usedUp ? Outcome.THROTTLED : Outcome.ALLOWED,
                                    usedUp ? 0 : 1,
                                    0,
                                    Duration.ofSeconds(usedUp ? 60 : 0),
                                    null,
                                    0,
                                    false))
                            .toList(),
                    Duration.ZERO,
                    null);
        }

        @Override
        public Decision decide(LimitRequest request) {
            throw new AssertionError("explaining charges nothing");
        }

        @Override
        public Reservation reserve(LimitRequest request) {
            throw new AssertionError("explaining charges nothing");
        }

        @Override
        public boolean reset(LimitRequest request) {
            throw new AssertionError("explaining resets nothing");
        }
    }

    private Explanation explain(Rule.Builder... rules) {
        PolicyConfiguration configuration = new PolicyConfiguration(
                Map.of("few", Map.of("algorithm", "fixed-window", "max-requests", "5", "window", "1m")),
                Stream.of(rules).map(Rule.Builder::build).toList(),
                new Tiers("free", Map.of(), Map.of(), ZoneId.of("UTC")),
                MatchMode.ALL,
                PathPatternParser.defaultInstance);
        PolicyStorage storage = PolicyStorage.configured(configuration, new SettableClock(), "it is a test");
        return new RateLimitAdmin(storage, traffic).explain(INQUIRY);
    }

    private static Rule.Builder rule(String name) {
        return Rule.named(name).key("user").limits("few");
    }

    private static Explanation.OfLimit limitOf(Explanation explanation, String rule) {
        return explanation.applying().stream()
                .filter(one -> one.rule().name().equals(rule))
                .flatMap(one -> one.limits().stream())
                .findFirst()
                .orElseThrow();
    }

    @Test
    void answersAreThoseThatLedToTheOutcome() {
        Explanation explanation = explain(rule("first").priority(5), rule("second"));

        assertThat(explanation.outcome()).isEqualTo(Outcome.THROTTLED);
        assertThat(traffic.looks).hasSize(1);
        for (String rule : List.of("first", "second")) {
            LimitDecision shown = limitOf(explanation, rule).decision();
            assertThat(shown.outcome()).isEqualTo(Outcome.THROTTLED);
            assertThat(shown.remaining()).isZero();
            assertThat(shown.rule())
                    .as("asked once, for the rule of higher priority")
                    .isEqualTo("first");
        }
    }

    @Test
    void limitOnTrialIsLookedAtByItself() {
        Explanation explanation =
                explain(rule("counts").priority(5), rule("trial").action(Action.SHADOW));

        assertThat(explanation.outcome()).isEqualTo(Outcome.THROTTLED);
        assertThat(limitOf(explanation, "counts").decision().outcome()).isEqualTo(Outcome.THROTTLED);
        assertThat(limitOf(explanation, "trial").decision().outcome()).isEqualTo(Outcome.ALLOWED);
    }

    @Test
    void limitOfABlockedRequestIsLookedAtByItself() {
        Explanation explanation =
                explain(rule("counts").priority(5), Rule.named("shut").action(Action.BLOCK));

        assertThat(explanation.outcome()).isEqualTo(Outcome.BLOCKED);
        assertThat(limitOf(explanation, "counts").decision()).isNotNull();
    }

    @Test
    void unavailableStoreIsNoted() {
        traffic.storeFails = true;

        Explanation.OfLimit limit = limitOf(explain(rule("counts")), "counts");

        assertThat(limit.decision()).isNull();
        assertThat(limit.note()).isEqualTo("the store is unavailable");
    }
}
