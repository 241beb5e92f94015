package dev.ratelimit.store.redis;

import static org.assertj.core.api.Assertions.assertThat;

import dev.ratelimit.Limit;
import dev.ratelimit.Subject;
import dev.ratelimit.algorithm.FixedWindow;
import dev.ratelimit.store.Operation.Demand;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.time.Duration;
import java.util.Comparator;
import java.util.List;
import java.util.stream.Stream;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** Rehearses the restore of docs/redis.md: the state before, a disaster, and what is counted again after. */
@Timeout(60)
class RedisBackupTest {

    private static final Subject ALICE = Subject.user("alice");
    private static final Subject MALLORY = Subject.user("mallory");
    private static final Limit LIMIT = Instance.atMost("api", 100);
    private static final Limit STRICT = Limit.named("strict")
            .algorithm(new FixedWindow(1, Instance.AGES))
            .penalty(1, Duration.ofHours(1))
            .build();

    private static void charge(Instance instance, int times) {
        for (int i = 0; i < times; i++) {
            assertThat(instance.isAllowed(ALICE, LIMIT)).isTrue();
        }
    }

    /** Blocked for an hour. */
    private static void violate(Instance instance) {
        assertThat(instance.isAllowed(MALLORY, STRICT)).isTrue();
        assertThat(instance.isAllowed(MALLORY, STRICT)).isFalse();
    }

    private static boolean isBlocked(Instance instance) {
        return instance.store.decide(new Demand(MALLORY, STRICT, 1)).first().penaltyUntil() > 0;
    }

    @Test
    void snapshotForgetsWhatCameAfterIt() throws Exception {
        try (RedisProcess server = RedisProcess.start();
                Instance instance = Instance.on(server, Instance.PATIENT)) {
            charge(instance, 40);
            violate(instance);
            server.call(redis -> redis.save()); // as "save 300 1" does every five minutes
            Path backup = server.folder().resolve("backup.rdb");
            Files.copy(server.folder().resolve("dump.rdb"), backup);
            charge(instance, 25);
            server.kill();
            Files.delete(server.folder().resolve("dump.rdb"));

            Files.copy(backup, server.folder().resolve("dump.rdb"), StandardCopyOption.REPLACE_EXISTING);
            server.startAgain();

            assertUsed(instance, 40);
            assertThat(isBlocked(instance)).as("the penalty is in the snapshot").isTrue();
            charge(instance, 60); // the 25 are granted once more
            assertThat(instance.isAllowed(ALICE, LIMIT)).isFalse();
        }
    }

    @Test
    void appendOnlyFileForgetsAtMostWhatWasNotSynced() throws Exception {
        try (RedisProcess server = RedisProcess.start("appendonly yes", "appendfsync everysec");
                Instance instance = Instance.on(server, Instance.PATIENT)) {
            charge(instance, 40);
            violate(instance);
            charge(instance, 25);
            awaitAppended(server);
            server.kill();

            server.startAgain();

            // The process was killed, not the machine: what was written to the file is there, synced or not.
            assertUsed(instance, 65);
            assertThat(isBlocked(instance)).isTrue();
            charge(instance, 35);
            assertThat(instance.isAllowed(ALICE, LIMIT)).isFalse();
        }
    }

    /** With its append-only file switched on, a server would start from that file, and not from the snapshot. */
    @Test
    void snapshotIsRestoredOnAServerWithAnAppendOnlyFile() throws Exception {
        try (RedisProcess server = RedisProcess.start("appendonly yes", "appendfsync everysec");
                Instance instance = Instance.on(server, Instance.PATIENT)) {
            charge(instance, 40);
            server.call(redis -> redis.save());
            Path backup = Files.copy(
                    server.folder().resolve("dump.rdb"), server.folder().resolve("backup.rdb"));
            charge(instance, 25);
            server.kill();
            Files.delete(server.folder().resolve("dump.rdb")); // the disk is lost
            deleteAppendOnlyFiles(server.folder());

            Files.copy(backup, server.folder().resolve("dump.rdb"));
            server.startAgain("appendonly no");
            server.call(redis -> redis.configSet("appendonly", "yes"));

            assertUsed(instance, 40);
            awaitPersistence(server, "aof_enabled:1", "aof_rewrite_in_progress:0", "aof_rewrite_scheduled:0");
            charge(instance, 5);
            awaitAppended(server);
            server.kill();
            server.startAgain();
            assertUsed(instance, 45);
        }
    }

    /** While it syncs the file, a server holds back what it has to write, for at most two seconds. */
    private static void awaitAppended(RedisProcess server) {
        awaitPersistence(server, "aof_buffer_length:0");
    }

    private static void awaitPersistence(RedisProcess server, String... lines) {
        Awaitility.await()
                .atMost(Duration.ofSeconds(20))
                .until(() -> server.call(redis -> redis.info("persistence"))
                        .lines()
                        .map(String::strip)
                        .toList()
                        .containsAll(List.of(lines)));
    }

    /** One file; from Redis 7.0 on a folder of files. */
    private static void deleteAppendOnlyFiles(Path folder) throws IOException {
        try (Stream<Path> files = Files.walk(folder)) {
            List<Path> appendOnly = files.filter(file -> folder.relativize(file).startsWith("appendonlydir")
                            || file.getFileName().toString().equals("appendonly.aof"))
                    .sorted(Comparator.reverseOrder())
                    .toList();
            assertThat(appendOnly).isNotEmpty();
            for (Path file : appendOnly) {
                Files.delete(file);
            }
        }
    }

    /** The instance remembers values that the server no longer has. It must not write them over the restored ones. */
    @Test
    void emptyServerCountsAnew() throws Exception {
        try (RedisProcess server = RedisProcess.start();
                Instance instance = Instance.on(server, Instance.PATIENT)) {
            charge(instance, 40);
            violate(instance);
            server.kill();

            server.startAgain();

            assertUsed(instance, 0);
            assertThat(isBlocked(instance)).isFalse();
        }
    }

    private static void assertUsed(Instance instance, long used) {
        Awaitility.await()
                .atMost(Duration.ofSeconds(20))
                .ignoreExceptions()
                .untilAsserted(() -> assertThat(instance.used(ALICE, LIMIT)).isEqualTo(used));
    }
}
