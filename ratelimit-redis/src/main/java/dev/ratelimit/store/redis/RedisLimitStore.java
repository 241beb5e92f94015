package dev.ratelimit.store.redis;

import dev.ratelimit.store.Answer;
import dev.ratelimit.store.LimitStore;
import dev.ratelimit.store.LimitStoreException;
import dev.ratelimit.store.LockedKeysException;
import dev.ratelimit.store.Operation;
import dev.ratelimit.store.Operation.Demand;
import dev.ratelimit.store.Operation.Kind;
import dev.ratelimit.store.Pruned;
import dev.ratelimit.store.Pruned.Progress;
import dev.ratelimit.store.StateKey;
import dev.ratelimit.store.UnreachedStoreException;
import dev.ratelimit.store.swap.Refunds;
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
    private final Moments moments;
    private final SwapCalls calls;
    private final Refunds refunds = new Refunds("ratelimit-redis-refunds", this::decide);
    private final @Nullable RedisPruning pruning;

    RedisLimitStore(RedisServers servers, RedisOptions options) {
        this.servers = servers;
        this.options = options;
        this.keys = new RedisKeys(options.keyPrefix());
        ServerClocks clocks = new ServerClocks();
        this.moments = new Moments(servers::node, clocks, options.clock());
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
        swaps.decide(moments, options.deadline());
        for (Demand owed : swaps.owed()) {
            refunds.giveBackLater(new Operation(Kind.SETTLE, List.of(owed)));
        }
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
        Set<StateKey> stuck = new HashSet<>();
        Set<Integer> parts = new HashSet<>();
        SwapFailure failure = null;
        boolean isHalfDone = swaps.isAnyHalfDone();
        boolean isUndone = !isHalfDone && answers.stream().allMatch(Objects::isNull);
        for (Task task : swaps.failed()) {
            SwapFailure its = Objects.requireNonNull(task.failure());
            failure = failure == null || failure.isOfKeys() ? its : failure;
            stuck.addAll(task.failedKeys());
            task.failedSlots().forEach(slot -> parts.add(servers.part(slot)));
            isUndone &= task.isSurelyUndone();
        }
        Throwable cause =
                Objects.requireNonNullElse(Objects.requireNonNull(failure).getCause(), failure);
        String message = "Redis failed: " + failure.getMessage();
        if (failure.isOfKeys() && !isHalfDone) {
            return new LockedKeysException(message, stuck, answers, cause);
        }
        return isUndone
                ? new UnreachedStoreException(message, parts, cause)
                : new LimitStoreException(message, answers, parts, cause);
    }

    private Row row(StateKey key) {
        byte[] name = keys.of(key);
        return new Row(key, name, servers.slot(name), remembered.get(key));
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
