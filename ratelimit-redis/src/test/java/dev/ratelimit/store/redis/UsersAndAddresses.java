package dev.ratelimit.store.redis;

import static org.assertj.core.api.Assertions.assertThat;

import dev.ratelimit.Decision;
import dev.ratelimit.Limit;
import dev.ratelimit.LimitRequest;
import dev.ratelimit.Subject;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicIntegerArray;

/** Requests of a few users from a few addresses, which are in different slots. Some limits are used up before others. */
final class UsersAndAddresses {

    private static final int EACH = 4;

    private final Limit perUser = Instance.atMost("per-user", 150);
    private final Limit perAddress = Instance.atMost("per-address", 120);
    private final AtomicIntegerArray users = new AtomicIntegerArray(EACH);
    private final AtomicIntegerArray addresses = new AtomicIntegerArray(EACH);
    private final AtomicInteger failed = new AtomicInteger();

    /** The sender of a request. */
    record Sender(int user, int address) {

        static Sender random() {
            int user = ThreadLocalRandom.current().nextInt(EACH);
            return new Sender(user, Math.min(ThreadLocalRandom.current().nextInt(EACH), user));
        }
    }

    private static Subject user(int number) {
        return Subject.user("u" + number);
    }

    private static Subject address(int number) {
        return Subject.ip("192.0.2." + number);
    }

    Decision decide(Instance instance, Sender sender) {
        return instance.decide(
                LimitRequest.of(user(sender.user()), perUser).and(address(sender.address()), perAddress));
    }

    /** Counts a request that was admitted. */
    void admitted(Sender sender) {
        users.incrementAndGet(sender.user());
        addresses.incrementAndGet(sender.address());
    }

    /** Sends a request, and counts it. */
    boolean ask(Instance instance) {
        Sender sender = Sender.random();
        Decision decision = decide(instance, sender);
        if (!decision.outcome().isDecided()) {
            failed.incrementAndGet();
        } else if (decision.allowed()) {
            admitted(sender);
        }
        return decision.allowed() || !decision.outcome().isDecided();
    }

    /** How many requests were not decided. */
    int failed() {
        return failed.get();
    }

    /**
     * Everything that was admitted is charged, and no limit has admitted more than it grants.
     *
     * @param atMostMore how much more may be charged to each user and to each address
     */
    void assertCharged(Instance instance, int atMostMore) {
        for (int i = 0; i < EACH; i++) {
            assertThat(instance.used(user(i), perUser))
                    .as("charged to user %s", i)
                    .isBetween((long) users.get(i), (long) users.get(i) + atMostMore);
            assertThat(instance.used(address(i), perAddress))
                    .as("charged to address %s", i)
                    .isBetween((long) addresses.get(i), (long) addresses.get(i) + atMostMore);
            assertThat(users.get(i)).isLessThanOrEqualTo((int) perUser.capacity());
            assertThat(addresses.get(i)).isLessThanOrEqualTo((int) perAddress.capacity());
        }
    }
}
