package dev.ratelimit.store.redis;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;

import dev.ratelimit.Limit;
import dev.ratelimit.Subject;
import dev.ratelimit.algorithm.FixedWindow;
import dev.ratelimit.algorithm.State;
import dev.ratelimit.algorithm.Violations;
import dev.ratelimit.store.Answer;
import dev.ratelimit.store.GroupArithmetic;
import dev.ratelimit.store.Operation;
import dev.ratelimit.store.Operation.Demand;
import dev.ratelimit.store.Operation.Kind;
import dev.ratelimit.store.StateKey;
import io.lettuce.core.RedisClient;
import io.lettuce.core.api.StatefulRedisConnection;
import io.lettuce.core.codec.ByteArrayCodec;
import io.lettuce.core.protocol.AsyncCommand;
import io.lettuce.core.protocol.Command;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** The script of the store, command by command, against a server. */
class SwapScriptTest {

    private static final Subject ALICE = Subject.user("alice");
    private static final Limit LIMIT = Instance.atMost("api", 10);
    private static final Limit SECOND = Instance.atMost("second", 10);
    private static final StateKey KEY = StateKey.of(ALICE, LIMIT.name());
    private static final RedisKeys KEYS = new RedisKeys("rl:");

    private RedisClient client;
    private StatefulRedisConnection<byte[], byte[]> connection;
    private Instance other;

    @BeforeEach
    void connect() {
        TestRedis.single().call(redis -> redis.flushall());
        client = TestRedis.client(TestRedis.single());
        connection = client.connect(ByteArrayCodec.INSTANCE);
        other = Instance.on(TestRedis.single(), Instance.PATIENT);
    }

    @AfterEach
    void disconnect() {
        other.close();
        TestRedis.shutdown(client);
    }

    /** On one server, all users of an address are written together. Lua cannot pass on that many arguments at once. */
    @Test
    void manySubjectsOfOneAddressAreDecidedTogether() {
        Limit address = Instance.atMost("per-address", 1_000_000);
        List<Operation> group = new ArrayList<>();
        for (int i = 0; i < 10_000; i++) {
            group.add(new Operation(
                    Kind.DECIDE,
                    List.of(
                            new Demand(Subject.user("user" + i), LIMIT, 1),
                            new Demand(Subject.ip("192.0.2.1"), address, 1))));
        }

        assertThat(other.store.decide(group)).hasSize(10_000).allMatch(Answer::allowed);

        assertThat(other.used(Subject.user("user9999"), LIMIT)).isEqualTo(1);
        assertThat(other.used(Subject.ip("192.0.2.1"), address)).isEqualTo(10_000);
    }

    @Test
    void sameCommandTwiceChargesOnce() throws Exception {
        Row row = charged(Stored.NONE);
        Swap swap = swapOf(row);
        long now = serverMicros();
        AsyncCommand<byte[], byte[], SwapReply> command = swap.command(now, false, false);

        SwapReply first = send(command);
        SwapReply second = sendAgain(command);

        assertThat(first.found(0)).isNull();
        assertThat(second.found(0)).as("the value of the second time").isNull();
        assertThat(other.used(ALICE, LIMIT)).isEqualTo(1);
    }

    @Test
    void sameCommandWithAnotherWriteInBetweenIsLostAndCanOnlyChargeMore() throws Exception {
        AsyncCommand<byte[], byte[], SwapReply> command =
                swapOf(charged(Stored.NONE)).command(serverMicros(), false, false);
        send(command);
        assertThat(other.isAllowed(ALICE, LIMIT)).isTrue();

        SwapReply second = sendAgain(command);

        assertThat(second.found(0)).isNotNull();
        assertThat(other.used(ALICE, LIMIT)).isEqualTo(2);
        // An instance whose command was lost decides again, on the value that it was told.
        Row again = charged(StoredCodec.decode(second.found(0)));
        assertThat(send(swapOf(again).command(serverMicros(), false, false)).found(0))
                .isNull();
        assertThat(other.used(ALICE, LIMIT)).isEqualTo(3);
    }

    /** Both limits of a subject are one unit. */
    @Test
    void sameCommandOverSeveralKeysTwiceChargesEachOnce() throws Exception {
        AsyncCommand<byte[], byte[], SwapReply> command = swapOf(
                        charged(LIMIT, Stored.NONE), charged(SECOND, Stored.NONE))
                .command(serverMicros(), false, false);

        SwapReply first = send(command);
        SwapReply again = sendAgain(command, 2);

        for (SwapReply reply : List.of(first, again)) {
            assertThat(reply.found(0)).isNull();
            assertThat(reply.found(1)).isNull();
        }
        assertThat(other.used(ALICE, LIMIT)).isEqualTo(1);
        assertThat(other.used(ALICE, SECOND)).isEqualTo(1);
    }

    /** One key has the version of the first time, the other one that of another instance: then neither is written. */
    @Test
    void sameCommandWithAWriteOfOneOfItsKeysInBetweenIsLostAsAWhole() throws Exception {
        AsyncCommand<byte[], byte[], SwapReply> command = swapOf(
                        charged(LIMIT, Stored.NONE), charged(SECOND, Stored.NONE))
                .command(serverMicros(), false, false);
        send(command);
        assertThat(other.isAllowed(ALICE, SECOND)).isTrue();

        SwapReply again = sendAgain(command, 2);

        assertThat(again.found(0)).as("the value of the first time").isNull();
        assertThat(again.found(1)).as("the value of another instance").isNotNull();
        assertThat(other.used(ALICE, LIMIT)).isEqualTo(1);
        assertThat(other.used(ALICE, SECOND)).isEqualTo(2);
        // The instance decides on the value that it knows of the first key. That is lost, too: it can only charge more.
        Stored second = StoredCodec.decode(again.found(1));
        SwapReply lost = send(
                swapOf(charged(LIMIT, Stored.NONE), charged(SECOND, second)).command(serverMicros(), false, false));
        assertThat(lost.found(0)).isNotNull();
        assertThat(other.used(ALICE, SECOND)).isEqualTo(2);
        send(swapOf(charged(LIMIT, StoredCodec.decode(lost.found(0))), charged(SECOND, second))
                .command(serverMicros(), false, false));
        assertThat(other.used(ALICE, LIMIT)).isEqualTo(2);
        assertThat(other.used(ALICE, SECOND)).isEqualTo(3);
    }

    @Test
    void momentThatHasNotComeOrIsOlderThanASecondIsRefused() throws Exception {
        long now = serverMicros();

        SwapReply early = send(swapOf(charged(Stored.NONE)).command(now + 60_000_000, false, false));
        SwapReply late = send(swapOf(charged(Stored.NONE)).command(now - 1_000_001, false, false));

        assertThat(early.isRefused()).isTrue();
        assertThat(late.isRefused()).isTrue();
        assertThat(late.time()).isGreaterThanOrEqualTo(now);
        assertThat(other.used(ALICE, LIMIT)).isZero();
    }

    @Test
    void keyExpiresWhenItsStateSaysNoMoreThanNone() {
        Limit minute = Limit.named("minute")
                .algorithm(new FixedWindow(10, Duration.ofMinutes(1)))
                .build();

        other.isAllowed(ALICE, minute);

        Stored stored = stored(minute);
        long expiry = System.currentTimeMillis() + pttl(minute);
        assertThat(stored.violations().isNone()).isTrue();
        assertThat(expiry).isCloseTo(stored.expiryMillis(), within(20_000L));
        assertThat(pttl(minute)).isBetween(1L, Duration.ofMinutes(2).toMillis());
        assertThat(stored.expiryMillis()).isEqualTo(stored.state().expiresAt() / 1_000 + 1);
    }

    /** The later of both: the state of a window of a minute, and violations that are forgotten after a day. */
    @Test
    void keyWithViolationsExpiresWhenTheyAreForgotten() {
        Limit strict = Limit.named("strict")
                .algorithm(new FixedWindow(1, Duration.ofMinutes(1)))
                .penalty(100, Duration.ofMinutes(5))
                .forgetAfter(Duration.ofHours(24))
                .build();

        other.isAllowed(ALICE, strict);
        assertThat(other.isAllowed(ALICE, strict)).isFalse();

        Stored stored = stored(strict);
        assertThat(stored.violations().count()).isEqualTo(1);
        assertThat(stored.expiryMillis()).isEqualTo(stored.violations().forgetAt() / 1_000 + 1);
        assertThat(pttl(strict))
                .isBetween(Duration.ofHours(23).toMillis(), Duration.ofHours(25).toMillis());
    }

    @Test
    void resetDeletesTheKey() throws Exception {
        assertThat(other.isAllowed(ALICE, LIMIT)).isTrue();
        Row row = new Row(KEY, KEYS.of(KEY), 0, stored(LIMIT));
        row.remove();

        send(swapOf(row).command(serverMicros(), false, false));

        assertThat(connection.sync().get(name(LIMIT))).isNull();
    }

    private static Row charged(Stored known) {
        return charged(LIMIT, known);
    }

    private static Row charged(Limit limit, Stored known) {
        StateKey of = StateKey.of(ALICE, limit.name());
        Row row = new Row(of, KEYS.of(of), 0, known);
        row.begin();
        GroupArithmetic.Rows rows = new GroupArithmetic.Rows() {

            @Override
            public State state(StateKey key) {
                return row.state();
            }

            @Override
            public void write(StateKey key, State state) {
                row.write(state);
            }

            @Override
            public Violations violations(StateKey key) {
                return row.violations();
            }

            @Override
            public void write(StateKey key, Violations violations) {
                row.write(violations);
            }

            @Override
            public void remove(StateKey key) {
                row.remove();
            }
        };
        assertThat(new GroupArithmetic(rows, serverMicros())
                        .decide(new Demand(ALICE, limit, 1))
                        .allowed())
                .isTrue();
        return row;
    }

    /** One unit. */
    private static Swap swapOf(Row... rows) {
        for (Row row : rows) {
            rows[0].unit.join(row.unit);
        }
        Swap swap = new Swap(0);
        swap.add(rows[0].unit);
        return swap;
    }

    private SwapReply send(AsyncCommand<byte[], byte[], SwapReply> command) throws Exception {
        connection.dispatch(command);
        return command.get(10, TimeUnit.SECONDS);
    }

    private SwapReply sendAgain(AsyncCommand<byte[], byte[], SwapReply> command) throws Exception {
        return sendAgain(command, 1);
    }

    /** The same bytes. */
    private SwapReply sendAgain(AsyncCommand<byte[], byte[], SwapReply> command, int keys) throws Exception {
        return send(new AsyncCommand<>(new Command<>(command.getType(), new SwapReply(keys), command.getArgs())));
    }

    private static long serverMicros() {
        return TestRedis.single().call(redis -> {
            var time = redis.time();
            return Long.parseLong(time.get(0)) * 1_000_000 + Long.parseLong(time.get(1));
        });
    }

    private Stored stored(Limit limit) {
        return StoredCodec.decode(connection.sync().get(name(limit)));
    }

    private long pttl(Limit limit) {
        return connection.sync().pttl(name(limit));
    }

    private static byte[] name(Limit limit) {
        return ("rl:{user:alice}:" + limit.name()).getBytes(StandardCharsets.UTF_8);
    }
}
