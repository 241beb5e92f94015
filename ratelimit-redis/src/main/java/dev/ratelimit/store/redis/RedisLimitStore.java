package dev.ratelimit.store.redis;

import dev.ratelimit.store.Answer;
import dev.ratelimit.store.LimitStore;
import dev.ratelimit.store.LimitStoreException;
import dev.ratelimit.store.Operation;
import dev.ratelimit.store.Pruned;
import dev.ratelimit.store.Pruned.Progress;
import dev.ratelimit.store.StateKey;
import dev.ratelimit.support.Micros;
import io.lettuce.core.AbstractRedisClient;
import java.time.InstantSource;
import java.util.HashSet;
import java.util.List;
import java.util.Objects;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * Keeps state in Redis: on one server, behind Sentinel or in a cluster.
 *
 * <p>Decisions are made here, by the same arithmetic as in all other stores. A script on the server then swaps the values: it writes the new one if
 * the old one is still the one that the decision was made on. A value that this process wrote last is remembered, so that
 * a decision is one call.
 *
 * <p>Where another process has changed a value meanwhile, its operations are decided after the others of their group.
 */
public final class RedisLimitStore implements LimitStore {

    private final RedisServers servers;
    private final RedisOptions options;
    private final RedisKeys keys;
    private final RememberedValues remembered = new RememberedValues(RememberedValues.MOST);
    private final ServerClocks clocks = new ServerClocks();
    private final SwapCalls calls;
    private final Refunds refunds = new Refunds(this::decide);
    private final @Nullable RedisPruning pruning;

    RedisLimitStore(RedisServers servers, RedisOptions options) {
        this.servers = servers;
        this.options = options;
        this.keys = new RedisKeys(options.keyPrefix());
        this.calls = new SwapCalls(servers, remembered, clocks, options);
        this.pruning = options.clock() == null ? null : new RedisPruning(servers, keys, options.clock());
    }

    /**
     * Connects to the servers of the client, which is not closed with the store. The client should send no command twice,
     * and reject commands while it is not connected.
     */
    public static RedisLimitStore open(AbstractRedisClient client, RedisOptions options) {
        return new RedisLimitStore(RedisServers.connect(client), options);
    }

    @Override
    public List<Answer> decide(List<Operation> group) {
        SwapGroup swaps = new SwapGroup(group, calls, this::row);
        swaps.decide(this::now, options.deadline());
        refunds.giveBack(swaps.owed());
        List<@Nullable Answer> answers = swaps.answers();
        if (answers.contains(null)) {
            throw failed(swaps, answers);
        }
        return requireAll(answers);
    }

    @SuppressWarnings("NullAway") // none is null
    private static List<Answer> requireAll(List<@Nullable Answer> answers) {
        return answers;
    }

    private LimitStoreException failed(SwapGroup swaps, List<@Nullable Answer> answers) {
        List<Task> failed = swaps.failed();
        Set<Integer> parts = new HashSet<>();
        for (Task task : failed) {
            task.failedSlots().forEach(slot -> parts.add(servers.part(slot)));
        }
        Throwable cause = Objects.requireNonNull(failed.get(0).failure());
        return new LimitStoreException("Redis failed: " + cause.getMessage(), answers, parts, cause);
    }

    private Row row(StateKey key) {
        byte[] name = keys.of(key);
        return new Row(key, name, servers.slot(name), remembered.get(key));
    }

    /** The earliest of the clocks of their servers: none of them accepts a moment that has not come. */
    private long now(Iterable<Row> rows) {
        InstantSource given = options.clock();
        if (given != null) {
            return Micros.of(given.instant());
        }
        long earliest = Long.MAX_VALUE;
        String last = null;
        for (Row row : rows) {
            String node = servers.node(row.slot);
            if (!node.equals(last)) {
                earliest = Math.min(earliest, clocks.now(node));
                last = node;
            }
        }
        return earliest;
    }

    /** After which each decision learns its values from the server. */
    void forgetValues() {
        remembered.clear();
    }

    /** The server that has the key. */
    @Override
    public int part(StateKey key) {
        return servers.isOne() ? 0 : servers.part(servers.slot(keys.of(key)));
    }

    @Override
    public boolean isContended(StateKey key) {
        return remembered.isContended(key);
    }

    @Override
    public boolean answersInTime() {
        return true;
    }

    /** One is decided here while the server writes the other. */
    @Override
    public int groupsAtOnce() {
        return 2;
    }

    @Override
    public @Nullable InstantSource clock() {
        return options.clock();
    }

    /** Redis deletes by itself what has expired, unless the clock is given. */
    @Override
    public Pruned prune(long keepMicros) {
        return pruning == null ? new Pruned(0, 0, Progress.FINISHED) : pruning.step(keepMicros);
    }

    @Override
    public void close() {
        refunds.close();
        servers.close();
    }
}
