package dev.ratelimit.store.redis;

import io.lettuce.core.AbstractRedisClient;
import io.lettuce.core.RedisClient;
import io.lettuce.core.cluster.RedisClusterClient;
import io.lettuce.core.cluster.api.sync.RedisClusterCommands;
import io.lettuce.core.protocol.AsyncCommand;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.LongSupplier;
import org.jspecify.annotations.Nullable;

/**
 * A connection to one server or to a cluster. If a server answers nothing for a second while it is asked, another one may have
 * taken its place: {@link #refresh()} looks for it. Safe for use by many threads.
 */
abstract class RedisServers implements AutoCloseable {

    private final Search search = new Search(System::nanoTime);

    /** Connects to the servers that the client was made for. */
    static RedisServers connect(AbstractRedisClient client) {
        if (client instanceof RedisClusterClient cluster) {
            return new ClusterServers(cluster);
        }
        if (client instanceof RedisClient single) {
            return new SingleServer(single);
        }
        throw new IllegalArgumentException("a client of " + client.getClass() + " is not supported");
    }

    /**
     * A server has said that another one is to be asked.
     *
     * @param isOnce whether only for this command, since the slot is on its way
     */
    record Redirection(String host, int port, boolean isOnce) {

        /** Reads the error of a server: {@code MOVED 1234 host:port} or {@code ASK 1234 host:port}. */
        static @Nullable Redirection in(@Nullable String error) {
            boolean isOnce = error != null && error.startsWith("ASK ");
            if (error == null || !(isOnce || error.startsWith("MOVED "))) {
                return null;
            }
            String[] words = error.split(" ", 3);
            int colon = words.length < 3 ? -1 : words[2].lastIndexOf(':');
            if (colon < 1) {
                return null; // such as a server that does not know its own name
            }
            try {
                return new Redirection(
                        words[2].substring(0, colon), Integer.parseInt(words[2].substring(colon + 1)), isOnce);
            } catch (NumberFormatException e) {
                return null;
            }
        }
    }

    /**
     * Says when to look for the servers anew: if one of them has answered nothing for a second while it was asked. A search begins
     * at most once a second, and never while another one runs. Thread-safe.
     */
    private static final class Search {

        private static final long SECOND = Duration.ofSeconds(1).toNanos();

        private final LongSupplier nanoTime;

        /** For each server that is silent, when an answer was missed for the first time. */
        private final Map<String, Long> silentSince = new ConcurrentHashMap<>();

        private final AtomicBoolean running = new AtomicBoolean();
        private volatile long notBefore;

        Search(LongSupplier nanoTime) {
            this.nanoTime = nanoTime;
            this.notBefore = nanoTime.getAsLong();
        }

        void answered(String node) {
            if (!silentSince.isEmpty()) {
                silentSince.remove(node);
            }
        }

        /**
         * An answer of that server was missed.
         *
         * @return whether it is silent for too long
         */
        boolean isSilent(String node) {
            long now = nanoTime.getAsLong();
            Long since = silentSince.putIfAbsent(node, now);
            return since != null && now - since >= SECOND;
        }

        /** The servers that are silent for too long. */
        List<String> silent() {
            long now = nanoTime.getAsLong();
            return silentSince.entrySet().stream()
                    .filter(entry -> now - entry.getValue() >= SECOND)
                    .map(Map.Entry::getKey)
                    .toList();
        }

        /** Whether a search may begin. Then the caller has to say when it has {@linkplain #ended ended}. */
        boolean begins() {
            if (nanoTime.getAsLong() - notBefore < 0 || !running.compareAndSet(false, true)) {
                return false;
            }
            notBefore = nanoTime.getAsLong() + SECOND;
            return true;
        }

        void ended() {
            running.set(false);
        }
    }

    /** The slot of a key. Keys in one slot can be swapped together. */
    abstract int slot(byte[] key);

    /** The server that has the slot now. */
    abstract String node(int slot);

    /** The number of that server. */
    abstract int part(int slot);

    /** Whether all slots are on one server. */
    abstract boolean isOne();

    /** Sends a command of one slot, and does not wait for its answer. */
    abstract void send(int slot, AsyncCommand<byte[], byte[], ?> command);

    /** Sends commands to the same server on one connection: for a command that looks at what others have done before. */
    abstract void sendTogether(int slot, List<AsyncCommand<byte[], byte[], ?>> commands);

    /** The same to the server that another one has named. */
    abstract void sendTogether(Redirection to, List<AsyncCommand<byte[], byte[], ?>> commands);

    /** A server has answered, if only with an error. */
    void answered(String node) {
        search.answered(node);
    }

    /** A server has not answered in time. */
    void missed(String node) {
        if (search.isSilent(node)) {
            refresh();
        }
    }

    /** The servers that have answered nothing for a second, though they were asked. */
    List<String> silent() {
        return search.silent();
    }

    /** A server has said that it does not have the slot, or that it is no master. Looks for the right one, without waiting. */
    void refresh() {
        if (search.begins()) {
            look(search::ended);
        }
    }

    /** Looks for the servers, without waiting, and says when that has ended. */
    abstract void look(Runnable ended);

    /** For what decides nothing. */
    abstract RedisClusterCommands<byte[], byte[]> commands();

    @Override
    public abstract void close();
}
