package dev.ratelimit.store.redis;

import dev.ratelimit.algorithm.State;
import dev.ratelimit.algorithm.Violations;
import dev.ratelimit.store.Pruned;
import dev.ratelimit.store.Pruned.Progress;
import dev.ratelimit.support.Micros;
import io.lettuce.core.KeyScanCursor;
import io.lettuce.core.KeyValue;
import io.lettuce.core.ScanArgs;
import io.lettuce.core.ScanCursor;
import java.nio.charset.StandardCharsets;
import java.time.InstantSource;
import java.util.List;
import java.util.concurrent.locks.ReentrantLock;
import org.jspecify.annotations.Nullable;

/** Deletes what has expired by a given clock. By its own clock, a server does so itself. */
final class RedisPruning {

    private static final int KEYS_PER_STEP = 5_000;

    private static final int KEYS_PER_SCAN = 1_000;

    private final RedisServers servers;
    private final RedisKeys keys;
    private final InstantSource clock;
    private final ReentrantLock running = new ReentrantLock();
    private @Nullable ScanCursor reached;

    RedisPruning(RedisServers servers, RedisKeys keys, InstantSource clock) {
        this.servers = servers;
        this.keys = keys;
        this.clock = clock;
    }

    Pruned step(long keepMicros) {
        if (!running.tryLock()) {
            return Pruned.NOTHING_WHILE_BUSY;
        }
        try {
            return walk(Micros.of(clock.instant()) - keepMicros);
        } finally {
            running.unlock();
        }
    }

    private Pruned walk(long before) {
        ScanArgs args = ScanArgs.Builder.matches(keys.pattern().getBytes(StandardCharsets.UTF_8))
                .limit(KEYS_PER_SCAN);
        long states = 0;
        long penalties = 0;
        int lookedAt = 0;
        ScanCursor cursor = reached == null ? ScanCursor.INITIAL : reached;
        while (lookedAt < KEYS_PER_STEP && !cursor.isFinished()) {
            KeyScanCursor<byte[]> found = servers.commands().scan(cursor, args);
            List<byte[]> names = found.getKeys();
            lookedAt += names.size();
            if (!names.isEmpty()) {
                for (KeyValue<byte[], byte[]> value : servers.commands().mget(names.toArray(new byte[0][]))) {
                    if (value.hasValue()) {
                        Stored stored = StoredCodec.decode(value.getValue());
                        boolean state =
                                !stored.state().isFresh() && stored.state().expiresAt() < before;
                        boolean violations = !stored.violations().isNone()
                                && stored.violations().forgetAt() < before;
                        if ((state || violations) && forget(value.getKey(), stored, state, violations)) {
                            states += state ? 1 : 0;
                            penalties += violations ? 1 : 0;
                        }
                    }
                }
            }
            cursor = found;
        }
        reached = cursor.isFinished() ? null : cursor;
        return new Pruned(
                states,
                penalties,
                reached == null ? Progress.FINISHED : Pruned.more(states + penalties, Math.max(1, lookedAt)));
    }

    /** Whether it was still as it was read. */
    private boolean forget(byte[] name, Stored stored, boolean state, boolean violations) {
        Stored rest = new Stored(
                stored.version() + 1,
                state ? State.FRESH : stored.state(),
                violations ? Violations.NONE : stored.violations());
        boolean nothing = rest.state().isFresh() && rest.violations().isNone();
        byte[] none = {};
        SwapReply reply = new SwapReply(1);
        servers.commands()
                .dispatch(
                        io.lettuce.core.protocol.CommandType.EVAL,
                        reply,
                        new io.lettuce.core.protocol.CommandArgs<>(io.lettuce.core.codec.ByteArrayCodec.INSTANCE)
                                .add(SwapScript.TEXT)
                                .add(1)
                                .addKey(name)
                                .add(none)
                                .add("1")
                                .add(StoredCodec.version(stored.version()))
                                .add(nothing ? none : StoredCodec.encode(rest))
                                .add(nothing ? new byte[] {'0'} : none));
        return reply.found(0) == null;
    }
}
