package dev.ratelimit.concurrency;

import static org.assertj.core.api.Assertions.assertThat;

import dev.ratelimit.Limit;
import dev.ratelimit.LimitRequest;
import dev.ratelimit.Limits;
import dev.ratelimit.Rate;
import dev.ratelimit.Reservation;
import dev.ratelimit.Subject;
import dev.ratelimit.algorithm.FixedWindow;
import dev.ratelimit.algorithm.LeakyBucket;
import dev.ratelimit.algorithm.SlidingLog;
import dev.ratelimit.algorithm.SlidingWindow;
import dev.ratelimit.algorithm.TokenBucket;
import dev.ratelimit.engine.Grouping;
import dev.ratelimit.engine.StoreRateLimiter;
import dev.ratelimit.store.LimitStore;
import dev.ratelimit.testing.SettableClock;
import dev.ratelimit.testing.TestSeed;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.random.RandomGenerator;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;

/** Logins: reserved before the password is checked, refunded if it was right. No time passes. */
@Timeout(60)
class ReservationsConcurrentlyTest {

    private static final int THREADS = 64;
    private static final int LOGINS = 5;
    private static final int MOST = 5;
    private static final Duration WINDOW = Duration.ofMinutes(15);
    private static final Subject ALICE = Subject.user("alice");

    @TempDir
    Path folder;

    static List<Arguments> storesAndLimits() {
        List<Arguments> arguments = new ArrayList<>();
        for (StoreKind kind : StoreKind.values()) {
            for (Limit limit : List.of(
                    Limit.named("fixed-window")
                            .algorithm(new FixedWindow(MOST, WINDOW))
                            .build(),
                    Limit.named("sliding-window")
                            .algorithm(new SlidingWindow(MOST, WINDOW))
                            .build(),
                    Limit.named("sliding-log")
                            .algorithm(new SlidingLog(MOST, WINDOW))
                            .build(),
                    Limit.named("token-bucket")
                            .algorithm(new TokenBucket(MOST, Rate.of(MOST, WINDOW)))
                            .build(),
                    Limit.named("leaky-bucket")
                            .algorithm(new LeakyBucket(MOST, Rate.of(MOST, WINDOW)))
                            .build())) {
                arguments.add(Arguments.of(kind, limit.name(), limit));
            }
        }
        return arguments;
    }

    /** The charges that are out, each counted no earlier than it was made and no later than it is given back. */
    private static final class Charges {

        private final AtomicInteger out = new AtomicInteger();
        private final AtomicInteger mostOut = new AtomicInteger();
        private final AtomicInteger made = new AtomicInteger();

        void made() {
            made.incrementAndGet();
            int now = out.incrementAndGet();
            mostOut.accumulateAndGet(now, Math::max);
        }

        void givenBack() {
            out.decrementAndGet();
        }
    }

    @ParameterizedTest(name = "{0}, {1}")
    @MethodSource("storesAndLimits")
    void chargesThatAreOutNeverExceedTheLimitAndRefundsMakeItWhole(StoreKind kind, String name, Limit limit)
            throws Exception {
        try (LimitStore store = kind.open(folder, new SettableClock());
                StoreRateLimiter limiter = limiter(store)) {
            Charges charges = new Charges();

            Together.run(THREADS, number -> () -> {
                for (int i = 0; i < LOGINS; i++) {
                    login(limiter, limit, charges, true);
                }
                return null;
            });

            assertThat(charges.mostOut.get()).isBetween(1, MOST);
            assertThat(charges.made).as("refunds made room for others").hasValueGreaterThan(MOST);
            assertThat(admittedNow(limiter, limit)).isEqualTo(MOST);
        }
    }

    @ParameterizedTest(name = "{0}, {1}")
    @MethodSource("storesAndLimits")
    void failedLoginsStayChargedAndNoMoreOfThemThanTheLimitGetThrough(StoreKind kind, String name, Limit limit)
            throws Exception {
        TestSeed seed = TestSeed.of("ReservationsConcurrentlyTest on " + kind + ", " + name);
        try (LimitStore store = kind.open(folder, new SettableClock());
                StoreRateLimiter limiter = limiter(store)) {
            Charges charges = new Charges();

            Together.run(THREADS, number -> () -> {
                RandomGenerator random = seed.history(number);
                for (int i = 0; i < LOGINS; i++) {
                    login(limiter, limit, charges, random.nextInt(40) > 0);
                }
                return null;
            });
            int failed = charges.out.get();

            assertThat(failed).isBetween(0, MOST);
            assertThat(charges.mostOut.get()).isBetween(failed, MOST);
            assertThat(admittedNow(limiter, limit)).isEqualTo(MOST - failed);
        }
    }

    private static StoreRateLimiter limiter(LimitStore store) {
        return StoreRateLimiter.builder(store, Limits.of())
                .grouping(Grouping.DEFAULT.withDeadline(Duration.ofSeconds(30)))
                .build();
    }

    private static void login(StoreRateLimiter limiter, Limit limit, Charges charges, boolean rightPassword) {
        Reservation reservation = limiter.reserve(LimitRequest.of(ALICE, limit));
        assertThat(reservation.decision().outcome().isDecided()).isTrue();
        if (!reservation.decision().allowed()) {
            return;
        }
        charges.made();
        if (rightPassword) {
            charges.givenBack();
            reservation.refund();
        } else {
            reservation.commit();
        }
    }

    private static int admittedNow(StoreRateLimiter limiter, Limit limit) {
        int admitted = 0;
        while (admitted <= MOST && limiter.decide(ALICE, limit).allowed()) {
            admitted++;
        }
        return admitted;
    }
}
