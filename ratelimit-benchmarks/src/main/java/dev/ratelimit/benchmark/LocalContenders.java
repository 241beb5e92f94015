package dev.ratelimit.benchmark;

import static dev.ratelimit.benchmark.Contenders.BUCKET;
import static dev.ratelimit.benchmark.Contenders.KEYS;
import static dev.ratelimit.benchmark.Contenders.LONE_SUBJECT;
import static dev.ratelimit.benchmark.Contenders.MANY;
import static dev.ratelimit.benchmark.Contenders.ONE;
import static dev.ratelimit.benchmark.Contenders.PLENTY;
import static dev.ratelimit.benchmark.Contenders.elsewhere;

import dev.ratelimit.benchmark.load.Load;
import dev.ratelimit.benchmark.peer.Bucket4jPeers;
import dev.ratelimit.benchmark.peer.Ours;
import dev.ratelimit.benchmark.peer.Peer;
import dev.ratelimit.benchmark.peer.SqlitePeer;
import dev.ratelimit.benchmark.peer.Stores;
import dev.ratelimit.store.LimitStore;
import io.github.resilience4j.ratelimiter.RateLimiter;
import io.github.resilience4j.ratelimiter.RateLimiterConfig;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;

/** Everything that can be measured without a server: on SQLite, and in process. Nothing is opened before it is warmed up. */
final class LocalContenders {

    private final Path folder;

    /**
     * @param folder of the SQLite files
     */
    LocalContenders(Path folder) {
        this.folder = folder;
    }

    // SQLite

    Contender sqliteOneCaller() {
        return elsewhere("sqlite 1 caller", ONE, n -> sqlite("one", false, ONE));
    }

    Contender sqliteEachOneCaller() {
        return elsewhere("sqlite-transaction-each 1 caller", ONE, n -> new SqlitePeer(file("one-each"), false, PLENTY));
    }

    Contender sqliteManyCallers() {
        return elsewhere("sqlite 64 callers", MANY, n -> sqlite("many", false, MANY));
    }

    Contender sqliteEachManyCallers() {
        return elsewhere(
                "sqlite-transaction-each 64 callers", MANY, n -> new SqlitePeer(file("many-each"), false, PLENTY));
    }

    Contender sqliteFull() {
        return elsewhere("sqlite 64 callers, full", MANY, n -> sqlite("full", true, MANY));
    }

    Contender sqliteEachFull() {
        return elsewhere(
                "sqlite-transaction-each 64 callers, full", MANY, n -> new SqlitePeer(file("full-each"), true, PLENTY));
    }

    private Ours sqlite(String name, boolean full, Load load) {
        LimitStore store = Stores.sqlite(Stores.newSqliteFile(file(name), full));
        return Ours.askingAll(List.of(store), 1, load.keys(), List.of(BUCKET), store);
    }

    private Path file(String name) {
        return folder.resolve(name + ".db");
    }

    // In process

    Contender memoryOneThread() {
        return memory("memory 1 thread", ONE);
    }

    Contender memoryManyThreads() {
        return memory("memory 64 threads", MANY);
    }

    private static Contender memory(String name, Load load) {
        return elsewhere(name, load, n -> {
            LimitStore store = Stores.memory();
            return Ours.askingAll(List.of(store), 1, load.keys(), List.of(BUCKET), store);
        });
    }

    Contender bucket4jLocalOneThread() {
        return elsewhere("bucket4j-local 1 thread", ONE, n -> Bucket4jPeers.localByName(PLENTY, KEYS));
    }

    Contender bucket4jLocalManyThreads() {
        return elsewhere("bucket4j-local 64 threads", MANY, n -> Bucket4jPeers.localByName(PLENTY, KEYS));
    }

    Contender bucket4jLocalDenied() {
        return elsewhere("bucket4j-local denied", LONE_SUBJECT, n -> usedUp(Bucket4jPeers.local(5, 1)));
    }

    Contender resilience4jDenied() {
        return elsewhere("resilience4j-local denied", LONE_SUBJECT, n -> {
            RateLimiter limiter = RateLimiter.of(
                    "denied",
                    RateLimiterConfig.custom()
                            .limitForPeriod(5)
                            .limitRefreshPeriod(Duration.ofDays(1))
                            .timeoutDuration(Duration.ZERO)
                            .build());
            return usedUp(key -> limiter.acquirePermission());
        });
    }

    private static Peer usedUp(Peer peer) throws Exception {
        while (peer.decide(0)) {
            // until it denies
        }
        return peer::decide;
    }
}
