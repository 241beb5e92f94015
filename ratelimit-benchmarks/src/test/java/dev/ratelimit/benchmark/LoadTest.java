package dev.ratelimit.benchmark;

import static org.assertj.core.api.Assertions.assertThat;

import dev.ratelimit.Limit;
import dev.ratelimit.Rate;
import dev.ratelimit.algorithm.TokenBucket;
import dev.ratelimit.benchmark.Load.Result;
import dev.ratelimit.benchmark.peer.Bucket4jPeers;
import dev.ratelimit.benchmark.peer.Ours;
import dev.ratelimit.benchmark.peer.Peer;
import dev.ratelimit.benchmark.peer.SqlitePeer;
import dev.ratelimit.store.MemoryLimitStore;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** A small run of what the comparison is made of; no servers are started. */
class LoadTest {

    private static final Load LOAD = new Load(4, 8);

    @TempDir
    Path folder;

    @Test
    void everyPeerAdmitsExactlyItsLimit() throws Exception {
        Limit limit = Limit.named("bucket")
                .algorithm(new TokenBucket(10, Rate.of(1, Duration.ofDays(1))))
                .build();
        List<Peer> peers = List.of(
                new Ours(List.of(new MemoryLimitStore()), 1, LOAD.keys(), List.of(limit), () -> {}),
                Bucket4jPeers.local(10, LOAD.keys()),
                new SqlitePeer(folder.resolve("each.db"), false, 10));
        for (Peer peer : peers) {
            try (peer) {
                Result result = LOAD.runTimes(peer, 400);

                assertThat(result.decided()).isEqualTo(1600);
                assertThat(result.admitted()).isEqualTo(80);
                assertThat(result.p50()).isPositive().isLessThanOrEqualTo(result.p99());
            }
        }
    }

    @Test
    void admissionsOfEachKeyAreThoseThatTheStoreHasCharged() throws Exception {
        Limit limit = Limit.named("bucket")
                .algorithm(new TokenBucket(1_000_000, Rate.of(1, Duration.ofDays(1))))
                .build();
        try (Ours ours = new Ours(List.of(new MemoryLimitStore()), 1, LOAD.keys(), List.of(limit), () -> {})) {
            Result result = LOAD.runTimes(ours, 100);

            for (int key = 0; key < LOAD.keys(); key++) {
                assertThat(ours.admitted(key)).isEqualTo(result.admittedByKey()[key]);
            }
        }
    }

    @Test
    void callerThatFailsFailsTheRun() {
        Peer broken = key -> {
            throw new IllegalStateException("broken");
        };

        org.assertj.core.api.Assertions.assertThatThrownBy(() -> LOAD.runTimes(broken, 1))
                .hasMessage("a caller failed")
                .hasRootCauseMessage("broken");
    }
}
