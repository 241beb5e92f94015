package dev.ratelimit.store.redis;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.ratelimit.Limit;
import dev.ratelimit.Subject;
import dev.ratelimit.algorithm.Check;
import dev.ratelimit.algorithm.Debt;
import dev.ratelimit.algorithm.FixedWindow;
import dev.ratelimit.algorithm.State;
import dev.ratelimit.algorithm.Verdict;
import dev.ratelimit.store.Answer;
import dev.ratelimit.store.LimitStoreException;
import dev.ratelimit.store.Operation;
import dev.ratelimit.store.Operation.Demand;
import dev.ratelimit.store.Operation.Kind;
import dev.ratelimit.store.UnreachedStoreException;
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

    /** They are in one slot, so nothing needs to be given back. */
    @Test
    void lostSwapOfOneLimitChargesNoOtherLimitOfItsSubject() {
        Limit second = Instance.atMost("second", 10);
        servers.before(USER_KEY, () -> otherCharges(USER, perUser));

        Answer answer = instance.store
                .decide(List.of(
                        new Operation(Kind.DECIDE, List.of(new Demand(USER, perUser, 1), new Demand(USER, second, 1)))))
                .get(0);

        assertThat(answer.allowed()).isTrue();
        assertThat(other.used(USER, perUser)).isEqualTo(2);
        assertThat(other.used(USER, second)).isEqualTo(1);
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

    /** Both limits count violations. The user is used up; so is the address, which another instance changes at the same moment. */
    @Test
    void violationOnASubjectWhoseSwapIsLostIsCountedToo() {
        Limit strictUser = strict("strict-user", 3);
        Limit strictAddress = strict("strict-address", 1);
        Operation denied = new Operation(
                Kind.DECIDE, List.of(new Demand(USER, strictUser, 1), new Demand(ADDRESS, strictAddress, 1)));
        for (int i = 0; i < 3; i++) {
            otherCharges(USER, strictUser);
        }
        instance.used(USER, strictUser); // it knows that
        servers.before("rl:{ip:192.0.2.1}:strict-address", () -> otherCharges(ADDRESS, strictAddress));

        Answer answer = instance.store.decide(denied);

        assertThat(answer.allowed()).isFalse();
        assertThat(answer.verdicts()).extracting(Verdict::violations).containsExactly(1L, 1L);
        assertThat(violations(USER, strictUser)).isEqualTo(1);
        assertThat(violations(ADDRESS, strictAddress)).isEqualTo(1);
    }

    @Test
    void violationIsNotCountedWhereTheSubjectHasRoom() {
        Limit strictUser = strict("strict-user", 1);
        Limit strictAddress = strict("strict-address", 3);
        Operation denied = new Operation(
                Kind.DECIDE, List.of(new Demand(USER, strictUser, 1), new Demand(ADDRESS, strictAddress, 1)));
        otherCharges(USER, strictUser);
        instance.used(USER, strictUser);
        servers.before("rl:{ip:192.0.2.1}:strict-address", () -> otherCharges(ADDRESS, strictAddress));

        assertThat(instance.store.decide(denied).allowed()).isFalse();

        assertThat(violations(USER, strictUser)).isEqualTo(1);
        for (int i = 1; i < strictAddress.capacity(); i++) {
            otherCharges(ADDRESS, strictAddress);
        }
        assertThat(violations(ADDRESS, strictAddress)).isZero();
    }

    /** The user is used up by the charge that is to be given back, and by another instance. The address is used up alone. */
    @Test
    void ownChargeInTheWayIsNoViolation() {
        Limit strictUser = strict("strict-user", 2);
        Limit single = Instance.atMost("single", 1);
        Operation joint =
                new Operation(Kind.DECIDE, List.of(new Demand(USER, strictUser, 1), new Demand(ADDRESS, single, 1)));
        servers.before("rl:{ip:192.0.2.1}:single", () -> otherCharges(ADDRESS, single));
        servers.before("rl:{user:alice}:strict-user", () -> true);
        servers.before("rl:{user:alice}:strict-user", () -> otherCharges(USER, strictUser));

        assertThat(instance.store.decide(joint).allowed()).isFalse();

        Awaitility.await()
                .untilAsserted(() -> assertThat(other.used(USER, strictUser)).isEqualTo(1));
        assertThat(other.used(ADDRESS, single)).isEqualTo(1);
        otherCharges(USER, strictUser);
        assertThat(violations(USER, strictUser)).isZero();
    }

    /** The debt of a lost row is charged, though its request is denied. */
    @Test
    void debtOfASubjectWhoseSwapIsLostIsChargedToo() {
        otherUsesUpTheUser();
        instance.used(USER, perUser);
        long now = instance.store
                .decide(new Operation(Kind.PEEK, List.of(new Demand(USER, perUser, 1))))
                .now();
        State owing = Check.of(perAddress, State.FRESH, now, 3, null).charged();
        Operation denied = new Operation(
                Kind.DECIDE,
                List.of(
                        new Demand(USER, perUser, 1),
                        new Demand(ADDRESS, perAddress, 1).withDebt(new Debt(perAddress, State.FRESH, owing))));
        servers.before(ADDRESS_KEY, () -> otherCharges(ADDRESS, perAddress));

        assertThat(instance.store.decide(denied).allowed()).isFalse();

        assertCharged(2, 4);
    }

    private static Limit strict(String name, long requests) {
        return Limit.named(name)
                .algorithm(new FixedWindow(requests, Instance.AGES))
                .penalty(5, Duration.ofDays(1))
                .build();
    }

    private long violations(Subject subject, Limit limit) {
        return other.store
                .decide(new Operation(Kind.PEEK, List.of(new Demand(subject, limit, 1))))
                .first()
                .violations();
    }

    private Operation refundOf(Answer charged) {
        return new Operation(
                Kind.SETTLE,
                List.of(
                        new Demand(USER, perUser, 0, charged.verdicts().get(0).charge()),
                        new Demand(
                                ADDRESS,
                                perAddress,
                                0,
                                charged.verdicts().get(1).charge())));
    }

    /** Otherwise the caller would make it again, and take more back from the user than was charged. */
    @Test
    void refundOfWhichOneHalfWasMadeIsNotSaidToBeUndone() {
        Operation refund = refundOf(instance.store.decide(both));
        otherCharges(USER, perUser);
        servers.before(ADDRESS_KEY, () -> {
            throw new RedisException("Currently not connected. Commands are rejected.");
        });

        assertThatThrownBy(() -> instance.store.decide(refund))
                .isExactlyInstanceOf(LimitStoreException.class)
                .hasMessageContaining("Currently not connected");

        assertCharged(1, 1);
    }

    @Test
    void refundOfWhichNothingWasMadeIsSaidToBeUndone() {
        Operation refund = refundOf(instance.store.decide(both));
        for (String key : List.of(USER_KEY, ADDRESS_KEY)) {
            servers.before(key, () -> {
                throw new RedisException("Currently not connected. Commands are rejected.");
            });
        }

        assertThatThrownBy(() -> instance.store.decide(refund)).isInstanceOf(UnreachedStoreException.class);

        assertCharged(1, 1);
    }

    /** The value of the address is not ours: the server is well, but the user has the permit back. */
    @Test
    void refundOfWhichOneHalfCannotBeMadeIsNotSaidToBeUndoneEither() {
        Operation refund = refundOf(instance.store.decide(both));
        otherCharges(USER, perUser);
        String unused = TestRedis.single().call(redis -> redis.set(ADDRESS_KEY, "written by hand"));

        assertThatThrownBy(() -> instance.store.decide(refund))
                .isExactlyInstanceOf(LimitStoreException.class)
                .hasMessageContaining(ADDRESS_KEY);

        assertThat(other.used(USER, perUser)).isEqualTo(1);
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
