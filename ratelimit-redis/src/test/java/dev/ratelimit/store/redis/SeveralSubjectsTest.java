package dev.ratelimit.store.redis;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.ratelimit.Limit;
import dev.ratelimit.Subject;
import dev.ratelimit.store.Answer;
import dev.ratelimit.store.LimitStoreException;
import dev.ratelimit.store.Operation;
import dev.ratelimit.store.Operation.Demand;
import dev.ratelimit.store.Operation.Kind;
import io.lettuce.core.RedisException;
import java.io.IOException;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CancellationException;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** A user and an address in different slots, with another instance that comes in between at the worst moments. */
class SeveralSubjectsTest {

    private static final Subject USER = Subject.user("alice");
    private static final Subject ADDRESS = Subject.ip("192.0.2.1");
    private static final String USER_KEY = "rl:{user:alice}:per-user";
    private static final String ADDRESS_KEY = "rl:{ip:192.0.2.1}:per-address";

    private final Limit perUser = Instance.atMost("per-user", 2);
    private final Limit perAddress = Instance.atMost("per-address", 10);
    private final Operation both =
            new Operation(Kind.DECIDE, List.of(new Demand(USER, perUser, 1), new Demand(ADDRESS, perAddress, 1)));

    private HeldUpServers servers;
    private Instance instance;
    private Instance other;

    @BeforeEach
    void start() {
        TestRedis.single().call(redis -> redis.flushall());
        instance = Instance.on(TestRedis.single(), Instance.PATIENT, real -> servers = new HeldUpServers(real));
        other = Instance.on(TestRedis.single(), Instance.PATIENT);
        other.used(USER, perUser); // the server knows the script
    }

    @AfterEach
    void close() {
        instance.close();
        other.close();
    }

    private boolean otherCharges(Subject subject, Limit limit) {
        assertThat(other.isAllowed(subject, limit)).isTrue();
        return true;
    }

    private boolean otherUsesUpTheUser() {
        for (long i = 0; i < perUser.capacity(); i++) {
            otherCharges(USER, perUser);
        }
        return true;
    }

    private void assertCharged(int user, int address) {
        assertThat(other.used(USER, perUser)).as("charged to the user").isEqualTo(user);
        assertThat(other.used(ADDRESS, perAddress)).as("charged to the address").isEqualTo(address);
    }

    @Test
    void lostSwapOfOneSubjectChargesTheOtherOnce() {
        servers.before(USER_KEY, () -> otherCharges(USER, perUser));

        assertThat(instance.store.decide(both).allowed()).isTrue();

        assertCharged(2, 1);
    }

    @Test
    void chargeIsGivenBackIfTheOtherSubjectIsUsedUpMeanwhile() {
        servers.before(USER_KEY, this::otherUsesUpTheUser);

        assertThat(instance.store.decide(both).allowed()).isFalse();

        assertCharged(2, 0);
    }

    /** The user is used up when the first swap comes; the address is charged by another instance before it is given back. */
    @Test
    void chargeIsGivenBackAlsoIfThatSwapIsLost() {
        servers.before(USER_KEY, this::otherUsesUpTheUser);
        servers.before(ADDRESS_KEY, () -> true);
        servers.before(ADDRESS_KEY, () -> otherCharges(ADDRESS, perAddress));

        Answer answer = instance.store.decide(both);

        assertThat(answer.allowed()).isFalse();
        Awaitility.await().untilAsserted(() -> assertCharged(2, 1));
    }

    @Test
    void failureOfOneSubjectGivesBackTheChargeOnTheOther() {
        servers.before(USER_KEY, () -> {
            throw new IOException("the connection is cut");
        });

        assertThatThrownBy(() -> instance.store.decide(both))
                .isInstanceOf(LimitStoreException.class)
                .hasMessageContaining("the connection is cut");

        Awaitility.await().untilAsserted(() -> assertCharged(0, 0));
    }

    private static boolean losesItsAnswer() throws IOException {
        throw new HeldUpServers.LostAnswerException();
    }

    private void assertChargedAndStays(int user, int address) {
        Awaitility.await().untilAsserted(() -> assertCharged(user, address));
        Awaitility.await()
                .during(Duration.ofMillis(1_500)) // longer than the pauses before the next tries
                .atMost(Duration.ofSeconds(20))
                .untilAsserted(() -> assertCharged(user, address));
    }

    /** It may have been made: made twice, it would admit one more. */
    @Test
    void refundWithALostAnswerIsNotMadeAgain() {
        otherCharges(ADDRESS, perAddress);
        otherCharges(ADDRESS, perAddress);
        servers.before(USER_KEY, () -> {
            throw new IOException("the connection is cut");
        });
        servers.before(ADDRESS_KEY, () -> true); // finds what the other one has charged
        servers.before(ADDRESS_KEY, () -> true);
        servers.before(ADDRESS_KEY, SeveralSubjectsTest::losesItsAnswer);
        instance.used(ADDRESS, perAddress);

        assertThatThrownBy(() -> instance.store.decide(both)).isInstanceOf(LimitStoreException.class);

        assertChargedAndStays(0, 2);
    }

    @Test
    void refundThatWasNotSentIsMadeAgain() {
        servers.before(USER_KEY, () -> {
            throw new IOException("the connection is cut");
        });
        servers.before(ADDRESS_KEY, () -> true);
        servers.before(ADDRESS_KEY, () -> {
            throw new RedisException("Currently not connected. Commands are rejected.");
        });

        assertThatThrownBy(() -> instance.store.decide(both)).isInstanceOf(LimitStoreException.class);

        assertChargedAndStays(0, 0);
    }

    /** The second round only gives back the charge of the first one. */
    @Test
    void chargeIsNotGivenBackTwiceIfTheAnswerIsLost() {
        otherCharges(ADDRESS, perAddress);
        otherCharges(ADDRESS, perAddress);
        instance.used(ADDRESS, perAddress);
        servers.before(USER_KEY, this::otherUsesUpTheUser);
        servers.before(ADDRESS_KEY, () -> true);
        servers.before(ADDRESS_KEY, SeveralSubjectsTest::losesItsAnswer);

        assertThatThrownBy(() -> instance.store.decide(both)).hasMessageContaining("the answer is lost");

        assertChargedAndStays(2, 2);
    }

    @Test
    void lostConnectionIsNamedAsTheCause() {
        servers.before(USER_KEY, () -> {
            throw new CancellationException();
        });

        assertThatThrownBy(() -> instance.isAllowed(USER, perUser))
                .isInstanceOf(LimitStoreException.class)
                .hasMessage("Redis failed: the connection was lost before the answer");
    }

    /** The application ends before it can give back: the store is closed. */
    @Test
    void crashLeavesAtMostACharge() {
        servers.before(USER_KEY, () -> {
            throw new IOException("the connection is cut");
        });
        servers.before(ADDRESS_KEY, () -> true);
        for (int i = 0; i < 10; i++) {
            servers.before(ADDRESS_KEY, () -> {
                throw new IOException("the process has ended");
            });
        }

        assertThatThrownBy(() -> instance.store.decide(both)).isInstanceOf(LimitStoreException.class);
        instance.store.close();

        assertCharged(0, 1);
    }

    @Test
    void momentThatIsTooOldIsRefusedAndDecidedAgain() {
        instance.isAllowed(ADDRESS, perAddress);
        servers.before(ADDRESS_KEY, () -> {
            Thread.sleep(Duration.ofMillis(1_100).toMillis()); // as if this process had been paused
            return true;
        });

        assertThat(instance.isAllowed(ADDRESS, perAddress)).isTrue();

        assertCharged(0, 2);
    }
}
