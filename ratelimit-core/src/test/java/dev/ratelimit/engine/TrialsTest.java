package dev.ratelimit.engine;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dev.ratelimit.Charged;
import dev.ratelimit.DecisionListener;
import dev.ratelimit.Limit;
import dev.ratelimit.LimitDecision;
import dev.ratelimit.LimitRequest;
import dev.ratelimit.Limits;
import dev.ratelimit.RequestRecord;
import dev.ratelimit.Reservation;
import dev.ratelimit.Subject;
import dev.ratelimit.algorithm.FixedWindow;
import dev.ratelimit.store.MemoryLimitStore;
import dev.ratelimit.testing.SettableClock;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import org.junit.jupiter.api.Test;

class TrialsTest {

    private static final Subject ALICE = Subject.user("alice");

    private static final Limit TRIAL = Limit.named("api:candidate")
            .algorithm(new FixedWindow(2, Duration.ofMinutes(1)))
            .build();

    private static final Limit API = Limit.named("api")
            .algorithm(new FixedWindow(4, Duration.ofMinutes(1)))
            .build()
            .withTrial(TRIAL);

    private static final Limit SHADOW = Limit.named("new:shadow")
            .algorithm(new FixedWindow(1, Duration.ofMinutes(1)))
            .build();

    /** The trials, as {@code limit/rule allowed}. */
    private final List<String> trials = new CopyOnWriteArrayList<>();

    private final StoreRateLimiter limiter = StoreRateLimiter.builder(
                    new MemoryLimitStore(new SettableClock()), Limits.of(API))
            .grouping(Grouping.DEFAULT)
            .listeners(List.of(new DecisionListener() {
                @Override
                public void recorded(RequestRecord request) {}

                @Override
                public void trialDecided(LimitDecision decision) {
                    trials.add(decision.limit().name() + "/" + decision.rule() + " " + decision.allowed());
                }
            }))
            .build();

    @Test
    void trialCountsEveryRequestReportsAndDeniesNobody() {
        for (int i = 0; i < 3; i++) {
            assertThat(limiter.decide(ALICE, "api").allowed()).isTrue();
            awaitTrials(i + 1);
        }

        assertThat(trials)
                .containsExactly("api:candidate/null true", "api:candidate/null true", "api:candidate/null false");
    }

    @Test
    void trialIsAskedForRequestsThatTheLimitDeniesToo() {
        for (int i = 0; i < 6; i++) {
            assertThat(limiter.decide(ALICE, "api").allowed()).isEqualTo(i < 4);
        }

        awaitTrials(6);
        assertThat(trials.stream().filter(one -> one.endsWith("true"))).hasSize(2);
    }

    @Test
    void limitOfARuleInShadowCountsOnItsOwnAndTellsOfItsRule() {
        LimitRequest request = LimitRequest.NONE.trial(ALICE, SHADOW, "trial");

        assertThat(limiter.decide(request).allowed()).isTrue();
        awaitTrials(1);
        assertThat(limiter.decide(request).allowed()).isTrue();
        awaitTrials(2);

        assertThat(trials).containsExactly("new:shadow/trial true", "new:shadow/trial false");
    }

    @Test
    void limitIsOnTrialOnceForASubjectHoweverManyRulesNameIt() {
        limiter.decide(LimitRequest.NONE.trial(ALICE, SHADOW, "one").trial(ALICE, SHADOW, "other"));

        awaitTrials(1);
        assertThat(limiter.peek(LimitRequest.of(ALICE, SHADOW)).remaining()).isZero();
        assertThat(trials).containsExactly("new:shadow/one true");
    }

    @Test
    void refundIsTakenBackFromTheTrialToo() {
        Reservation reservation = limiter.reserve(ALICE, "api");
        assertThat(reservation.refund()).isTrue();

        awaitTrials(1);
        await().untilAsserted(() -> assertThat(
                        limiter.peek(LimitRequest.of(ALICE, TRIAL)).remaining())
                .isEqualTo(2));
    }

    @Test
    void intervalOfAGivenBackRequestIsTakenBackFromTheTrialToo() {
        Limit paced = Limit.named("paced:shadow")
                .algorithm(new FixedWindow(2, Duration.ofMinutes(1)))
                .minInterval(Duration.ofSeconds(10))
                .build();
        LimitRequest request = LimitRequest.of(ALICE, API).trial(ALICE, paced, "trial");

        Charged charged = limiter.charge(request);
        awaitTrials(2);
        assertThat(charged.giveBack()).isTrue();
        await().untilAsserted(() -> assertThat(
                        limiter.peek(LimitRequest.of(ALICE, paced)).remaining())
                .isEqualTo(2));

        limiter.decide(request);
        awaitTrials(4);
        assertThat(trials.stream().filter(one -> one.startsWith("paced")))
                .containsExactly("paced:shadow/trial true", "paced:shadow/trial true");
    }

    @Test
    void resetIsForTheTrialToo() {
        limiter.decide(ALICE, "api");
        awaitTrials(1);

        assertThat(limiter.reset(ALICE, "api")).isTrue();

        await().untilAsserted(() -> assertThat(
                        limiter.peek(LimitRequest.of(ALICE, TRIAL)).remaining())
                .isEqualTo(2));
    }

    @Test
    void peekTriesNothing() {
        limiter.peek(ALICE, "api");
        limiter.decide(ALICE, "api");

        awaitTrials(1);
        assertThat(limiter.peek(LimitRequest.of(ALICE, TRIAL)).remaining()).isEqualTo(1);
    }

    private void awaitTrials(int number) {
        await().untilAsserted(() -> assertThat(trials).hasSize(number));
    }
}
