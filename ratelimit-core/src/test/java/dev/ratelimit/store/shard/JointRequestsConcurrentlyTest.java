package dev.ratelimit.store.shard;

import static dev.ratelimit.store.shard.TestShards.ASLEEP;
import static dev.ratelimit.store.shard.TestShards.atMost;
import static dev.ratelimit.store.shard.TestShards.charged;
import static org.assertj.core.api.Assertions.assertThat;

import dev.ratelimit.Limit;
import dev.ratelimit.Subject;
import dev.ratelimit.store.Answer;
import dev.ratelimit.store.Operation;
import dev.ratelimit.store.Operation.Demand;
import dev.ratelimit.store.Operation.Kind;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.IntStream;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** Three instances on the same three shards. */
@Timeout(120)
class JointRequestsConcurrentlyTest {

    private static final int THREADS_EACH = 3;
    private static final int USERS = 6;

    private final List<ShardedLimitStore> instances = new ArrayList<>();

    @BeforeEach
    void open() {
        TestShards shards = new TestShards();
        for (int i = 0; i < 3; i++) {
            instances.add(shards.open(ASLEEP, "a", "b", "c"));
        }
    }

    @AfterEach
    void close() {
        instances.forEach(ShardedLimitStore::close);
    }

    private interface Work {
        void with(ShardedLimitStore instance, int thread);
    }

    private void inAllInstances(Work work) {
        List<CompletableFuture<Void>> threads = new ArrayList<>();
        for (ShardedLimitStore instance : instances) {
            for (int i = 0; i < THREADS_EACH; i++) {
                int number = threads.size();
                threads.add(CompletableFuture.runAsync(() -> work.with(instance, number)));
            }
        }
        threads.forEach(CompletableFuture::join);
    }

    @Test
    void instancesAdmitExactlyTheLimit() {
        Limit limit = atMost("exact", 100);
        List<Subject> users = TestShards.users(USERS);
        AtomicInteger[] admitted =
                IntStream.range(0, USERS).mapToObj(i -> new AtomicInteger()).toArray(AtomicInteger[]::new);

        inAllInstances((instance, thread) -> {
            for (int i = 0; i < 30; i++) {
                List<Operation> group = users.stream()
                        .map(user -> TestShards.operation(Kind.DECIDE, user, limit))
                        .toList();
                List<Answer> answers = instance.decide(group);
                for (int u = 0; u < USERS; u++) {
                    if (answers.get(u).allowed()) {
                        admitted[u].incrementAndGet();
                    }
                }
            }
        });

        for (int u = 0; u < USERS; u++) {
            assertThat(admitted[u]).hasValue(100);
            assertThat(charged(instances.get(0), users.get(u), limit)).isEqualTo(100);
        }
    }

    /** Users have little, addresses have a little more: each denies some requests that the other would admit. */
    @Test
    void userAndAddressAreChargedForAdmittedRequestsAndForNothingElse() {
        Limit ofUser = atMost("user", 25);
        Limit ofAddress = atMost("address", 60);
        List<Subject> users = TestShards.users(USERS);
        List<Subject> addresses = List.of(Subject.ip("203.0.113.7"), Subject.ip("203.0.113.8"));
        AtomicInteger[][] admitted = new AtomicInteger[USERS][2];
        for (AtomicInteger[] one : admitted) {
            one[0] = new AtomicInteger();
            one[1] = new AtomicInteger();
        }

        inAllInstances((instance, thread) -> {
            for (int i = 0; i < 60; i++) {
                int user = (i + thread) % USERS;
                int address = i % 2;
                Operation both = new Operation(
                        Kind.DECIDE,
                        List.of(
                                new Demand(users.get(user), ofUser, 1),
                                new Demand(addresses.get(address), ofAddress, 1)));
                if (instance.decide(List.of(both)).get(0).allowed()) {
                    admitted[user][address].incrementAndGet();
                }
            }
        });

        Awaitility.await().untilAsserted(() -> {
            for (int u = 0; u < USERS; u++) {
                assertThat(charged(instances.get(0), users.get(u), ofUser))
                        .isEqualTo(admitted[u][0].get() + admitted[u][1].get());
            }
            for (int a = 0; a < 2; a++) {
                int address = a;
                assertThat(charged(instances.get(0), addresses.get(a), ofAddress))
                        .isEqualTo(IntStream.range(0, USERS)
                                .map(u -> admitted[u][address].get())
                                .sum());
            }
        });
        int all = IntStream.range(0, USERS)
                .map(u -> admitted[u][0].get() + admitted[u][1].get())
                .sum();
        assertThat(all).isBetween(60, 120);
    }
}
