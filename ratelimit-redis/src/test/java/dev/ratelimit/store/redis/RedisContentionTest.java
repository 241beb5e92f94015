package dev.ratelimit.store.redis;

import static org.assertj.core.api.Assertions.assertThat;

import dev.ratelimit.Lease;
import dev.ratelimit.Limit;
import dev.ratelimit.Subject;
import dev.ratelimit.algorithm.FixedWindow;
import dev.ratelimit.store.StateKey;
import java.util.List;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** {@code lease: auto} on a Redis: the swaps that are lost to other instances show which subjects are contended. */
class RedisContentionTest {

    private static final Subject ALICE = Subject.user("alice");

    private static final Limit AUTO = Limit.named("auto")
            .algorithm(new FixedWindow(10_000, Instance.AGES))
            .lease(Lease.AUTO)
            .build();

    /** On different servers. */
    private static final List<Subject> SPREAD = List.of(Subject.user("a"), Subject.user("b"), Subject.user("d"));

    private static final int TURNS = 6;

    @BeforeEach
    void flush() {
        TestRedis.single().call(redis -> redis.flushall());
    }

    @Test
    void instancesThatFightOverASubjectNoticeItAndTakeLeases() {
        try (Instance a = Instance.on(TestRedis.single(), Instance.PATIENT);
                Instance b = Instance.on(TestRedis.single(), Instance.PATIENT);
                Instance c = Instance.on(TestRedis.single(), Instance.PATIENT);
                Instance watching = Instance.on(TestRedis.single(), Instance.PATIENT)) {
            for (int i = 0; i < TURNS; i++) {
                assertThat(a.decide(ALICE, AUTO).allowed()).isTrue();
                assertThat(b.decide(ALICE, AUTO).allowed()).isTrue();
                assertThat(c.decide(ALICE, AUTO).allowed()).isTrue();
            }

            assertThat(a.store.isContended(StateKey.of(ALICE, AUTO.name()))).isTrue();
            assertThat(watching.used(ALICE, AUTO))
                    .as("charged: more than was asked for, in advance")
                    .isGreaterThan(3L * TURNS);
        }
    }

    @Test
    void instancesThatFightOverASubjectOfAClusterNoticeItToo() throws Exception {
        for (RedisProcess master : TestRedis.cluster().masters()) {
            master.call(redis -> redis.flushall());
        }
        try (Instance a = Instance.on(TestRedis.cluster(), Instance.PATIENT);
                Instance b = Instance.on(TestRedis.cluster(), Instance.PATIENT)) {
            for (Subject subject : SPREAD) {
                for (int i = 0; i < 2 * TURNS; i++) {
                    assertThat(a.decide(subject, AUTO).allowed()).isTrue();
                    assertThat(b.decide(subject, AUTO).allowed()).isTrue();
                }
                assertThat(a.store.isContended(StateKey.of(subject, AUTO.name())))
                        .as("contended: %s", subject)
                        .isTrue();
                assertThat(a.used(subject, AUTO))
                        .as("charged to %s: more than was asked for, in advance", subject)
                        .isGreaterThan(4L * TURNS);
            }
            assertThat(a.store.isContended(StateKey.of(Subject.user("nobody"), AUTO.name())))
                    .isFalse();
        }
    }

    @Test
    void instanceThatAsksAloneFightsWithNobody() {
        try (Instance alone = Instance.on(TestRedis.single(), Instance.PATIENT)) {
            for (int i = 0; i < TURNS; i++) {
                assertThat(alone.decide(ALICE, AUTO).allowed()).isTrue();
            }

            assertThat(alone.store.isContended(StateKey.of(ALICE, AUTO.name()))).isFalse();
        }
    }
}
