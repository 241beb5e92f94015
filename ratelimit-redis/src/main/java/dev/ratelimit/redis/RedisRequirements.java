package dev.ratelimit.redis;

import dev.ratelimit.store.redis.Acknowledge;
import dev.ratelimit.store.redis.RedisOptions;
import dev.ratelimit.store.redis.SwapScript;
import dev.ratelimit.support.LogText;
import io.lettuce.core.AbstractRedisClient;
import io.lettuce.core.RedisClient;
import io.lettuce.core.RedisCommandExecutionException;
import io.lettuce.core.RedisException;
import io.lettuce.core.ScriptOutputType;
import io.lettuce.core.api.StatefulRedisConnection;
import io.lettuce.core.cluster.RedisClusterClient;
import io.lettuce.core.cluster.SlotHash;
import io.lettuce.core.cluster.api.StatefulRedisClusterConnection;
import io.lettuce.core.cluster.api.sync.RedisClusterCommands;
import io.lettuce.core.cluster.models.partitions.RedisClusterNode;
import io.lettuce.core.protocol.RedisProtocolException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ThreadLocalRandom;
import java.util.function.Predicate;
import java.util.function.Supplier;
import javax.net.ssl.SSLException;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Checks at startup that every master can keep rate limits. Masters of a cluster that are unavailable may be left out, if others are
 * available.
 *
 * <ol>
 *   <li>It is reachable with the credentials of the application.
 *   <li>It is Redis 6.2 or later, evicts nothing, and is a node of a cluster only if the application says so.
 *   <li>The script of the store runs, on a key of the store.
 * </ol>
 */
final class RedisRequirements {

    private static final Logger log = LoggerFactory.getLogger(RedisRequirements.class);

    /** The script then compares no clocks. */
    private static final String NO_MOMENT = "";

    /** When Redis deletes the key of a check that did not end. */
    private static final Duration LEFTOVER = Duration.ofMinutes(5);

    private static final int MOST_TRIES = 3;

    private static final int MAJOR = 6;
    private static final int MINOR = 2;

    private final String where;
    private final String prefix;
    private final boolean needsReplica;
    private final boolean needsAllMasters;

    /**
     * @param where names the servers
     * @param needsAllMasters whether no master of a cluster may be unavailable
     */
    RedisRequirements(String where, RedisOptions options, boolean needsAllMasters) {
        this.needsAllMasters = needsAllMasters;
        this.where = where;
        this.prefix = options.keyPrefix();
        this.needsReplica = options.acknowledge() == Acknowledge.REPLICA;
    }

    void check(AbstractRedisClient client) {
        try {
            if (client instanceof RedisClusterClient cluster) {
                checkCluster(cluster);
            } else {
                try (StatefulRedisConnection<String, String> connection = connect(((RedisClient) client)::connect)) {
                    checkServer(connection.sync(), where, false, slot -> true);
                }
            }
        } catch (RedisException e) {
            throw failure(where, e);
        }
    }

    /**
     * A server that refuses the password also closes the connection. If that comes first, the client knows no reason, and reports
     * its own state. Then it connects again, to learn the reason.
     */
    static <T> T connect(Supplier<T> connecting) {
        for (int tries = 1; ; tries++) {
            try {
                return connecting.get();
            } catch (RedisException e) {
                if (tries == MOST_TRIES || !has(IllegalStateException.class, e)) {
                    throw e;
                }
            }
        }
    }

    private void checkCluster(RedisClusterClient client) {
        try (StatefulRedisClusterConnection<String, String> connection = connect(client::connect)) {
            List<RedisUnavailableException> missing = new ArrayList<>();
            boolean isAnyAvailable = false;
            for (RedisClusterNode node : connection.getPartitions()) {
                if (node.getSlots().isEmpty()) {
                    continue; // a replica, or a master without any key
                }
                try {
                    checkNode(connection, node);
                    isAnyAvailable = true;
                } catch (RedisUnavailableException e) {
                    missing.add(e);
                }
            }
            if (!missing.isEmpty() && (needsAllMasters || !isAnyAvailable)) {
                throw missing.get(0);
            }
            missing.forEach(master -> log.warn(
                    "Starting without a master of {}, which could not be checked; applying on-failure to its subjects until"
                            + " it is available: {}",
                    where,
                    LogText.of(master.getMessage())));
        }
    }

    private void checkNode(StatefulRedisClusterConnection<String, String> connection, RedisClusterNode node) {
        String server =
                "Redis at " + node.getUri().getHost() + ":" + node.getUri().getPort();
        try {
            checkServer(connection.getConnection(node.getNodeId()).sync(), server, true, node::hasSlot);
        } catch (RedisException e) {
            throw failure(server, e);
        }
    }

    private void checkServer(
            RedisClusterCommands<String, String> commands,
            String server,
            boolean asCluster,
            Predicate<Integer> hasSlot) {
        Map<String, String> info = info(commands, server);
        if (info != null) {
            requireVersion(info.get("redis_version"), server);
            requireNoEviction(info.get("maxmemory_policy"), server);
            if ("1".equals(info.get("cluster_enabled")) && !asCluster) {
                throw withoutCluster(server);
            }
            if (needsReplica && "0".equals(info.get("connected_slaves"))) {
                log.warn(
                        "{} has no replica: decisions fail until it has one, since ratelimit.store.redis.acknowledge is replica",
                        server);
            }
        }
        probe(commands, server, hasSlot);
    }

    /** The lines of INFO; {@code null} if this user may not ask. */
    private static @Nullable Map<String, String> info(RedisClusterCommands<String, String> commands, String server) {
        String text;
        try {
            text = commands.info();
        } catch (RedisCommandExecutionException e) {
            if (!is(e, "NOPERM")) {
                throw e;
            }
            log.warn(
                    "Could not check whether {} evicts keys, since this user may not run INFO; make sure that maxmemory-policy"
                            + " is noeviction, or allow +info",
                    server);
            return null;
        }
        Map<String, String> info = new LinkedHashMap<>();
        text.lines().forEach(line -> {
            int colon = line.indexOf(':');
            if (colon > 0) {
                info.put(line.substring(0, colon), line.substring(colon + 1).strip());
            }
        });
        return info;
    }

    private static void requireVersion(@Nullable String version, String server) {
        String[] parts = version == null ? new String[0] : version.split("\\.", 3);
        try {
            int major = Integer.parseInt(parts[0]);
            if (major > MAJOR || (major == MAJOR && Integer.parseInt(parts[1]) >= MINOR)) {
                return;
            }
        } catch (NumberFormatException | ArrayIndexOutOfBoundsException e) {
            log.warn("{} has the version '{}', which cannot be compared with 6.2", server, version);
            return;
        }
        throw new RedisRefusedException(
                server + " has the version " + version + ", but rate limits need 6.2 or later",
                "Upgrade Redis to 6.2 or later, or set ratelimit.store.type to postgresql or sqlite.");
    }

    private static void requireNoEviction(@Nullable String policy, String server) {
        if (policy != null && !policy.equals("noeviction")) {
            throw new RedisRefusedException(
                    server + " has the maxmemory-policy " + policy
                            + ", which deletes counts while they are needed: each deleted count is a fresh limit",
                    "Run CONFIG SET maxmemory-policy noeviction, and write maxmemory-policy noeviction in redis.conf or in the"
                            + " settings of your provider. If that Redis is a cache, give rate limits another one.");
        }
    }

    /**
     * Runs the script of the store as decisions do, and leaves nothing: a key that is not there is looked for, written, and
     * deleted.
     */
    private void probe(RedisClusterCommands<String, String> commands, String server, Predicate<Integer> hasSlot) {
        String text = SwapScript.text();
        String[] keys = {key(hasSlot)};
        List<Object> missing = requireAnswer(
                "", commands.eval(text, ScriptOutputType.MULTI, keys, NO_MOMENT, "1", "version0", "", ""), server);
        // By the clock of the server: this machine may be hours behind it.
        long serverMillis = (Long) missing.get(0) / 1_000;
        String soon = Long.toString(serverMillis + LEFTOVER.toMillis());
        String sha1 = commands.digest(text);
        requireAnswer(
                1L, commands.evalsha(sha1, ScriptOutputType.MULTI, keys, NO_MOMENT, "1", "", "version1", soon), server);
        requireAnswer(
                1L, commands.evalsha(sha1, ScriptOutputType.MULTI, keys, NO_MOMENT, "1", "version1", "", "0"), server);
        if (needsReplica) {
            Long unused = commands.waitForReplication(0, 1);
        }
    }

    private static List<Object> requireAnswer(Object expected, List<Object> answer, String server) {
        if (answer.size() == 2 && answer.get(0) instanceof Long && answer.get(1).equals(expected)) {
            return answer;
        }
        throw new RedisRefusedException(
                server + " answered the script that decides with " + answer + " instead of its time and '" + expected
                        + "'",
                "Make sure that no proxy answers instead of Redis.");
    }

    /** One that this server holds, and that no other instance looks at meanwhile. */
    private String key(Predicate<Integer> hasSlot) {
        String unique = Long.toHexString(ThreadLocalRandom.current().nextLong());
        for (int i = 0; ; i++) {
            String key = prefix + "{startup-" + i + "}:" + unique;
            if (hasSlot.test(SlotHash.getSlot(key))) {
                return key;
            }
        }
    }

    private RuntimeException failure(String server, RedisException failure) {
        RedisCommandExecutionException answer = answerIn(failure);
        if (answer != null) {
            return answered(server, answer);
        }
        if (has(SSLException.class, failure)) {
            return new RedisUnavailableException(
                    server + " cannot be reached with TLS: " + rootMessage(failure),
                    "Let the SSL bundle in spring.data.redis.ssl.bundle trust the certificate of the server, and address the"
                            + " server by a name of the certificate. If the server has no TLS, remove"
                            + " spring.data.redis.ssl.",
                    failure);
        }
        if (has(RedisProtocolException.class, failure)) {
            return new RedisUnavailableException(
                    server + " answers, but not as Redis does: " + rootMessage(failure),
                    "If the server expects TLS, set spring.data.redis.ssl.bundle, or spring.data.redis.ssl.enabled: true."
                            + " Otherwise correct the address under spring.data.redis.",
                    failure);
        }
        return new RedisUnavailableException(
                server + " is unreachable: " + rootMessage(failure),
                "Start Redis, or correct the address under spring.data.redis: host and port, url, sentinel.nodes and"
                        + " sentinel.master, or cluster.nodes.",
                failure);
    }

    /** Whether there is such a cause; the client suppresses those of the nodes of a cluster. */
    private static boolean has(Class<? extends Throwable> type, @Nullable Throwable failure) {
        return failure != null
                && (type.isInstance(failure)
                        || has(type, failure.getCause())
                        || Arrays.stream(failure.getSuppressed()).anyMatch(each -> has(type, each)));
    }

    /** The answer of a server; the client suppresses those that it got from the nodes of a cluster. */
    private static @Nullable RedisCommandExecutionException answerIn(@Nullable Throwable failure) {
        if (failure == null || failure instanceof RedisCommandExecutionException) {
            return (RedisCommandExecutionException) failure;
        }
        RedisCommandExecutionException answer = answerIn(failure.getCause());
        for (int i = 0; answer == null && i < failure.getSuppressed().length; i++) {
            answer = answerIn(failure.getSuppressed()[i]);
        }
        return answer;
    }

    /** The server answered with an error. */
    private RuntimeException answered(String server, RedisCommandExecutionException answer) {
        String text = String.valueOf(answer.getMessage());
        if (is(answer, "WRONGPASS") || is(answer, "NOAUTH") || text.contains("invalid password")) {
            return new RedisRefusedException(
                    server + " refuses the user or the password: " + text,
                    "Correct spring.data.redis.username and spring.data.redis.password.");
        }
        if (is(answer, "NOPERM")
                || text.contains("The user executing the script can't") // before Redis 7.2
                || text.contains("ACL failure in script")) {
            return new RedisRefusedException(
                    server + " refuses a command or a key that rate limits need: " + text,
                    "Let an administrator allow them: ACL SETUSER <user> ~" + prefix
                            + "* +eval +evalsha +time +mget +exists +set +del +wait +info +hello +auth +client +ping. Add"
                            + " +cluster in a cluster, and +select for a database other than 0.");
        }
        if (is(answer, "MOVED") || is(answer, "CROSSSLOT")) {
            return withoutCluster(server);
        }
        if (is(answer, "LOADING")
                || is(answer, "READONLY")
                || is(answer, "CLUSTERDOWN")
                || is(answer, "MASTERDOWN")
                || is(answer, "BUSY")
                || is(answer, "OOM")
                || is(answer, "NOREPLICAS")
                || is(answer, "MISCONF")) {
            return new RedisUnavailableException(
                    server + " answers, but takes no counts now: " + text,
                    "Wait until it is a master that takes writes, or correct the address under spring.data.redis.",
                    answer);
        }
        if (text.contains("unknown command 'SENTINEL'") || text.contains("unknown command `SENTINEL`")) {
            return new RedisRefusedException(
                    server + " cannot be found: a server in spring.data.redis.sentinel.nodes is no Sentinel",
                    "Write the addresses of the Sentinels, whose port is usually 26379. Without Sentinels, write"
                            + " spring.data.redis.host and spring.data.redis.port instead.");
        }
        if (text.contains("cluster support disabled")) {
            return new RedisRefusedException(
                    server + " is not a node of a cluster, but spring.data.redis.cluster.nodes is set",
                    "Write spring.data.redis.host and spring.data.redis.port instead of spring.data.redis.cluster.nodes.");
        }
        return new RedisRefusedException(
                server + " cannot run the script that decides: " + text,
                "Rate limits need Lua scripts: EVAL and EVALSHA, not renamed and not disabled. Use a Redis that"
                        + " has them, or set ratelimit.store.type to postgresql or sqlite.");
    }

    private static RedisRefusedException withoutCluster(String server) {
        String address = server.substring(server.lastIndexOf(' ') + 1);
        return new RedisRefusedException(
                server + " is a node of a cluster, but is addressed as a single server",
                "Write spring.data.redis.cluster.nodes: " + address
                        + " instead of spring.data.redis.host or spring.data.redis.url.");
    }

    /** A server before 7.0 puts its own words before an error within a script. */
    private static boolean is(RedisCommandExecutionException answer, String error) {
        String text = String.valueOf(answer.getMessage());
        return text.startsWith(error) || text.contains(": -" + error + " ");
    }

    private static String rootMessage(Throwable failure) {
        Throwable root = failure;
        while (root.getCause() != null) {
            root = root.getCause();
        }
        String message = root.getMessage();
        return message == null
                ? root.getClass().getSimpleName()
                : message.lines().findFirst().orElse("");
    }
}
