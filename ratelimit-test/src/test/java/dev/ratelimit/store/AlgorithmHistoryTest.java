package dev.ratelimit.store;

import static org.assertj.core.api.Assertions.assertThat;

import dev.ratelimit.Limit;
import dev.ratelimit.Outcome;
import dev.ratelimit.Subject;
import dev.ratelimit.Window;
import dev.ratelimit.algorithm.Charge;
import dev.ratelimit.algorithm.FixedWindow;
import dev.ratelimit.algorithm.Verdict;
import dev.ratelimit.store.Operation.Demand;
import dev.ratelimit.support.Micros;
import dev.ratelimit.test.RateLimitClock;
import dev.ratelimit.test.store.RandomLimits;
import dev.ratelimit.test.store.RandomLimits.Kind;
import dev.ratelimit.test.store.TestSeed;
import java.time.Duration;
import java.time.Instant;
import java.time.zone.ZoneOffsetTransition;
import java.util.ArrayList;
import java.util.List;
import java.util.random.RandomGenerator;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/**
 * Random histories of one subject on one limit, decided by the store in memory and by a naive model of what the
 * algorithm means. Moments in the answers are exact if the model agrees at them and not one microsecond before.
 */
class AlgorithmHistoryTest {

    private static final int OPERATIONS = 24_000;
    private static final int OPERATIONS_PER_HISTORY = 200;

    @ParameterizedTest
    @EnumSource(Kind.class)
    void everyDecisionIsThatOfTheNaiveModel(Kind kind) {
        TestSeed seed = TestSeed.of("AlgorithmHistoryTest, " + kind);
        for (int number = 0; number < OPERATIONS / OPERATIONS_PER_HISTORY; number++) {
            History history = new History(kind, seed.history(number));
            for (int operation = 0; operation < OPERATIONS_PER_HISTORY; operation++) {
                history.next(seed + ", " + kind + ", history " + number + ", operation " + operation);
            }
        }
    }

    private static final class History {

        private static final Subject ALICE = Subject.user("alice");
        private static final long LONGEST_LOG = 10_000;
        private static final int MOST_CHARGES = 30;
        private static final long LONGEST_STEP = Micros.of(Duration.ofDays(365 * 30));

        private record Charged(Charge charge, NaiveAlgorithm.Admitted admitted) {}

        private final RandomGenerator random;
        private final RateLimitClock clock;
        private final MemoryLimitStore store;
        private final RandomLimits limits;
        private final Limit limit;
        private final NaiveLimit model;
        private final List<Charged> charges = new ArrayList<>();
        private String where = "";
        private long availableAt;
        private long resetAt;

        History(Kind kind, RandomGenerator random) {
            this.random = random;
            this.limits = new RandomLimits(random, LONGEST_LOG);
            this.limit = limits.next("limit", kind);
            this.model = new NaiveLimit(limit);
            this.clock = new RateLimitClock(start());
            this.store = new MemoryLimitStore(clock);
        }

        void next(String number) {
            clock.set(Micros.toInstant(now() + Math.min(step(), LONGEST_STEP)));
            where = number + ", " + limit + " at " + clock.instant();
            int dice = random.nextInt(100);
            if (dice < 12) {
                peek(limits.cost(limit));
            } else if (dice < 24 && !charges.isEmpty()) {
                settle();
            } else if (dice < 26) {
                reset();
            } else {
                decide(limits.cost(limit));
            }
        }

        private void decide(long cost) {
            Outcome expected = model.outcome(now(), cost);
            requireDelay(ask(Operation.Kind.PEEK, cost, null), expected);
            Verdict verdict = ask(Operation.Kind.DECIDE, cost, null);
            assertThat(verdict.outcome()).as(where).isEqualTo(expected);
            if (expected == Outcome.ALLOWED) {
                requireDelay(verdict, expected);
                assertThat(verdict.availableAt()).as(where).isEqualTo(now());
                assertThat(verdict.charge().at()).as(where).isEqualTo(now());
                assertThat(verdict.charge().cost()).as(where).isEqualTo(cost);
                remember(new Charged(verdict.charge(), model.admit(now(), cost)));
            } else {
                if (expected == Outcome.THROTTLED) {
                    model.violate(now());
                }
                requireExactRetry(verdict, cost);
            }
            requireRest(verdict);
        }

        private void peek(long cost) {
            Outcome expected = model.outcome(now(), cost);
            Verdict verdict = ask(Operation.Kind.PEEK, cost, null);
            assertThat(verdict.outcome()).as(where).isEqualTo(expected);
            if (expected == Outcome.ALLOWED) {
                assertThat(verdict.availableAt()).as(where).isEqualTo(now());
            } else {
                requireExactRetry(verdict, cost);
            }
            requireDelay(verdict, expected);
            requireRest(verdict);
        }

        private void settle() {
            Charged charged = charges.remove(random.nextInt(charges.size()));
            long before = charged.charge().cost();
            // More than was charged, too; but the largest buckets have no room for a debt, they saturate.
            long most = limit.capacity() <= 20 ? limit.capacity() : before;
            long cost = random.nextInt(3) == 0 ? 0 : random.nextLong(1 + (random.nextBoolean() ? before : most));
            model.algorithm().settle(charged.admitted(), now(), cost);
            requireRest(ask(Operation.Kind.SETTLE, cost, charged.charge()));
        }

        private void reset() {
            model.reset();
            charges.clear();
            Verdict verdict = ask(Operation.Kind.RESET, 1, null);
            assertThat(verdict.outcome()).as(where).isEqualTo(Outcome.ALLOWED);
            assertThat(verdict.resetAt()).as(where).isEqualTo(now());
            requireRest(verdict);
        }

        private void requireExactRetry(Verdict verdict, long cost) {
            availableAt = verdict.availableAt();
            assertThat(availableAt).as("%s, retry", where).isGreaterThan(now());
            assertThat(model.admits(availableAt, cost))
                    .as("%s: cost %d is admitted at %d", where, cost, availableAt)
                    .isTrue();
            assertThat(model.admits(availableAt - 1, cost))
                    .as("%s: cost %d is not admitted before %d", where, cost, availableAt)
                    .isFalse();
        }

        private void requireDelay(Verdict verdict, Outcome outcome) {
            if (outcome != Outcome.ALLOWED) {
                assertThat(verdict.delay()).as("%s, delay", where).isZero();
                return;
            }
            long turn = now() + verdict.delay();
            // The model knows the water before the request only until the request is admitted.
            assertThat(model.algorithm().isTurn(turn))
                    .as("%s, delay %d", where, verdict.delay())
                    .isTrue();
            if (turn > now()) {
                assertThat(model.algorithm().isTurn(turn - 1))
                        .as("%s, delay %d", where, verdict.delay())
                        .isFalse();
            }
        }

        private void requireRest(Verdict verdict) {
            boolean blocked = model.blockedUntil() > now();
            assertThat(verdict.penaltyUntil()).as("%s, penalty", where).isEqualTo(blocked ? model.blockedUntil() : 0);
            if (blocked) {
                assertThat(verdict.remaining()).as("%s, remaining", where).isZero();
            } else {
                requireRemaining(verdict.remaining());
            }
            requireReset(verdict.resetAt());
        }

        private void requireRemaining(long remaining) {
            if (remaining > 0) {
                assertThat(model.algorithm().hasRoomForSingles(now(), remaining))
                        .as("%s: room for all of the remaining %d", where, remaining)
                        .isTrue();
            }
            assertThat(model.algorithm().hasRoomForSingles(now(), remaining + 1))
                    .as("%s: room for more than the remaining %d", where, remaining)
                    .isFalse();
        }

        private void requireReset(long reset) {
            resetAt = reset;
            assertThat(reset >= model.blockedUntil() && model.algorithm().isWhole(reset))
                    .as("%s: whole at %d", where, reset)
                    .isTrue();
            if (reset > now()) {
                assertThat(reset - 1 >= model.blockedUntil()
                                && model.algorithm().isWhole(reset - 1))
                        .as("%s: not whole before %d", where, reset)
                        .isFalse();
            }
        }

        private Verdict ask(Operation.Kind kind, long cost, Charge charge) {
            Operation operation = new Operation(kind, List.of(new Demand(ALICE, limit, cost, charge)));
            return store.decide(List.of(operation)).get(0).verdicts().get(0);
        }

        private void remember(Charged charged) {
            charges.add(charged);
            if (charges.size() > MOST_CHARGES) {
                charges.remove(random.nextInt(charges.size()));
            }
        }

        private long step() {
            long scale = RandomLimits.scale(limit.algorithm());
            return switch (random.nextInt(isCalendar() ? 17 : 14)) {
                case 0, 1, 2 -> 0;
                case 3 -> 1;
                case 4 -> random.nextLong(1_000);
                case 5 -> random.nextLong(1 + scale / 10);
                case 6 -> random.nextLong(1 + scale);
                case 7 -> scale - now() % scale;
                case 8 -> scale - now() % scale - 1;
                case 9 -> random.nextLong(1, 4) * scale;
                case 10, 11 -> Math.max(0, availableAt - now());
                case 12 -> Math.max(0, availableAt - 1 - now());
                case 13 -> Math.max(0, resetAt - random.nextInt(2) - now());
                case 14 -> Micros.of(Duration.between(clock.instant(), beforeClockChange(clock.instant())));
                default -> random.nextLong(1 + Micros.of(Duration.ofHours(1)));
            };
        }

        private Instant start() {
            Instant moment = Instant.parse("2024-01-01T00:00:00Z")
                    .plus(Micros.toDuration(random.nextLong(Micros.of(Duration.ofDays(1000)))));
            return beforeClockChange(moment);
        }

        /** Up to three hours before the clocks change the next time in the zone of the limit, if they do. */
        private Instant beforeClockChange(Instant moment) {
            ZoneOffsetTransition change = limit.algorithm() instanceof FixedWindow fixed
                            && fixed.alignment() instanceof Window.Calendar calendar
                    ? calendar.zone().getRules().nextTransition(moment)
                    : null;
            if (change == null) {
                return moment;
            }
            Instant before = change.getInstant().minus(Micros.toDuration(random.nextLong(10_800_000_000L)));
            return before.isBefore(moment) ? moment : before;
        }

        private boolean isCalendar() {
            return limit.algorithm() instanceof FixedWindow fixed && fixed.alignment() instanceof Window.Calendar;
        }

        private long now() {
            return Micros.of(clock.instant());
        }
    }
}
