package dev.ratelimit.benchmark;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.ratelimit.Limit;
import dev.ratelimit.benchmark.load.Load;
import dev.ratelimit.benchmark.load.Load.Result;
import dev.ratelimit.benchmark.peer.Bucket4jPeers;
import dev.ratelimit.benchmark.peer.MeasuredLimits;
import dev.ratelimit.benchmark.peer.Ours;
import dev.ratelimit.benchmark.peer.Peer;
import dev.ratelimit.benchmark.peer.SqlitePeer;
import dev.ratelimit.benchmark.peer.Stores;
import java.nio.file.Path;
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
        Limit limit = MeasuredLimits.bucket("bucket", 10);
        List<Peer> peers = List.of(
                inMemory(limit),
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
    void storeHasChargedExactlyTheAdmissionsOfEachKey() throws Exception {
        for (Peer peer : List.of(
                inMemory(MeasuredLimits.bucket("bucket")),
                inMemory(MeasuredLimits.bucket("bucket")).charged(7),
                Ours.askingOneEach(
                        Stores.memory(),
                        1,
                        LOAD.keys(),
                        List.of(MeasuredLimits.bucket("tiered", 1_000), MeasuredLimits.bucket("tiered", 2_000))),
                inMemory(MeasuredLimits.bucketWithPenalties("penalised")).usedUp(key -> key % 2 == 0),
                inMemory(MeasuredLimits.bucket("bucket")).reserving(),
                Bucket4jPeers.localByName(1_000, LOAD.keys()))) {
            try (peer) {
                Result result = LOAD.runTimes(peer, 100);

                for (int key = 0; key < LOAD.keys(); key++) {
                    peer.requireExact(key, result.admittedByKey()[key], result.deniedByKey()[key]);
                }
            }
        }
    }

    @Test
    void admissionThatTheStoreHasNotChargedIsNoticed() throws Exception {
        try (Ours ours = inMemory(MeasuredLimits.bucket("bucket"))) {
            assertThat(ours.decide(3)).isTrue();

            assertThatThrownBy(() -> ours.requireExact(3, 2, 0))
                    .hasMessage("key 3 was admitted 2 times according to its callers, and 1 times according to the"
                            + " store");
        }
    }

    @Test
    void requestsOfKeysThatAreUsedUpAreDenied() throws Exception {
        try (Ours ours =
                inMemory(MeasuredLimits.bucketWithPenalties("penalised")).usedUp(key -> key % 2 == 0)) {
            Result result = LOAD.runTimes(ours, 100);

            for (int key = 0; key < LOAD.keys(); key++) {
                long[] none = key % 2 == 0 ? result.admittedByKey() : result.deniedByKey();
                long[] all = key % 2 == 0 ? result.deniedByKey() : result.admittedByKey();
                assertThat(none[key]).isZero();
                assertThat(all[key]).isPositive();
            }
        }
    }

    private static Ours inMemory(Limit limit) {
        return Ours.askingAll(List.of(Stores.memory()), 1, LOAD.keys(), List.of(limit), () -> {});
    }

    @Test
    void callerThatFailsFailsTheRun() {
        Peer broken = key -> {
            throw new IllegalStateException("broken");
        };

        assertThatThrownBy(() -> LOAD.runTimes(broken, 1))
                .hasMessage("a caller failed")
                .hasRootCauseMessage("broken");
    }
}
