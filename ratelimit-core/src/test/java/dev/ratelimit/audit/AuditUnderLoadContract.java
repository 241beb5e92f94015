package dev.ratelimit.audit;

import static org.assertj.core.api.Assertions.assertThat;

import dev.ratelimit.Decision;
import dev.ratelimit.Limit;
import dev.ratelimit.LimitRequest;
import dev.ratelimit.Limits;
import dev.ratelimit.Outcome;
import dev.ratelimit.Subject;
import dev.ratelimit.algorithm.FixedWindow;
import dev.ratelimit.audit.report.AuditEntry;
import dev.ratelimit.engine.Grouping;
import dev.ratelimit.engine.StoreRateLimiter;
import dev.ratelimit.gate.Subjects;
import dev.ratelimit.store.LimitStore;
import dev.ratelimit.store.MemoryLimitStore;
import java.io.BufferedReader;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.time.Duration;
import java.time.InstantSource;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** The audit trail and totals while much happens, and while the database is slow. */
abstract class AuditUnderLoadContract {

    private static final AuditEntry.Origin ORIGIN = new AuditEntry.Origin("server-1", "");
    private static final Duration INTERVAL = Duration.ofMillis(100);

    private AuditTestDatabase database;

    abstract AuditTestDatabase create();

    /** The counts beside that audit trail, as an application has them. */
    abstract LimitStore store(AuditTestDatabase database);

    @BeforeEach
    void open() {
        database = create();
    }

    private RequestAudit audit(AuditMode mode, int capacity) {
        AuditSettings settings = new AuditSettings(mode, true, 0, ORIGIN, capacity, 10, new Subjects(64), INTERVAL);
        return new RequestAudit(database.open(), settings, InstantSource.system(), CacheUse.NONE);
    }

    private static long usedMemory() {
        System.gc();
        return Runtime.getRuntime().totalMemory() - Runtime.getRuntime().freeMemory();
    }

    @Test
    void aMillionDenialsLeaveMemoryFlatAndTheAuditTrailBounded() throws Exception {
        int threads = 4;
        int denials = 1_000_000;
        int capacity = 1_000;
        long start = System.nanoTime();
        try (RequestAudit audit = audit(AuditMode.DENIED, capacity)) {
            long before = usedMemory();
            inThreads(threads, thread -> {
                for (int i = 0; i < denials / threads; i++) {
                    // Every one from another address and user: the worst that an attacker can do.
                    audit.recorded(TestRequests.of(
                            "bot" + thread + "-" + i, "198.51.100." + i % 256, "login", Outcome.THROTTLED, 429, null));
                }
            });
            long during = usedMemory();
            audit.flush();
            long writes = mostWritesSince(start);

            long rows = database.count("rate_limit_audit_logs");
            long totals = database.number("SELECT count(*) FROM %srate_limit_metrics WHERE granularity = 'minute'");
            System.out.printf(
                    "A million denials: %d rows in the audit trail, %d rows of totals, memory before %d MB, after %d MB%n",
                    rows, totals, before >> 20, during >> 20);
            assertThat(database.number("SELECT sum(requests) FROM %srate_limit_audit_logs"))
                    .isEqualTo(denials);
            assertThat(database.number("SELECT sum(throttled) FROM %srate_limit_metrics"
                            + " WHERE granularity = 'minute' AND resource = 'login'"))
                    .isEqualTo(denials);
            assertThat(during - before).isLessThan(100L << 20);
            // Each write takes the waiting rows, and those without a sender beside them.
            assertThat(rows).isLessThan(denials / 2).isLessThanOrEqualTo(writes * (capacity + 2L * threads + 16));
            // Of each minute that the test touched.
            assertThat(totals).isLessThan(20L * MinuteTotals.MOST_SUBJECT_ROWS);
        }
    }

    /** The schedule, and one flush. */
    private static long mostWritesSince(long start) {
        return TimeUnit.NANOSECONDS.toMillis(System.nanoTime() - start) / INTERVAL.toMillis() + 2;
    }

    @Test
    void clientThatMakesUpPathsWritesOneRowPerWrite() throws Exception {
        int threads = 4;
        int denials = 200_000;
        long start = System.nanoTime();
        try (RequestAudit audit = audit(AuditMode.DENIED, 10_000)) {
            inThreads(threads, thread -> {
                for (int i = 0; i < denials / threads; i++) {
                    audit.recorded(TestRequests.asking(
                            "GET", "/a/" + thread + "/" + i, TestRequests.throttled("mallory", "api")));
                }
            });
            audit.flush();

            assertThat(database.number("SELECT sum(requests) FROM %srate_limit_audit_logs"))
                    .isEqualTo(denials);
            assertThat(database.count("rate_limit_audit_logs")).isLessThanOrEqualTo(mostWritesSince(start));
            assertThat(audit.merged() + audit.dropped()).isZero();
        }
    }

    private interface Work {
        void run(int thread) throws Exception;
    }

    private static void inThreads(int threads, Work work) throws Exception {
        ExecutorService pool = Executors.newFixedThreadPool(threads);
        try {
            List<Future<?>> running = new ArrayList<>();
            for (int i = 0; i < threads; i++) {
                int thread = i;
                running.add(pool.submit(() -> {
                    work.run(thread);
                    return null;
                }));
            }
            for (Future<?> one : running) {
                one.get(5, TimeUnit.MINUTES);
            }
        } finally {
            pool.shutdownNow();
        }
    }

    /** Requests end while every write of the audit trail waits: so none of them can have waited for one. */
    @Test
    void stalledDatabaseDelaysNoRequest() throws Exception {
        Limit limit = Limit.named("api")
                .algorithm(new FixedWindow(10, Duration.ofDays(1)))
                .build();
        try (RequestAudit audit = audit(AuditMode.ALL, 1_000);
                StoreRateLimiter limiter = StoreRateLimiter.builder(new MemoryLimitStore(), Limits.of(limit))
                        .listeners(List.of(audit))
                        .build()) {
            requests(limiter, 20_000);
            long[] free = requests(limiter, 100_000);
            Awaitility.await().until(() -> database.count("rate_limit_audit_logs") > 0);
            long[] stalled;
            long waiting;
            try (AutoCloseable stall = database.stall()) {
                stalled = requests(limiter, 100_000);
                waiting = audit.waiting();
            }
            System.out.printf(
                    "p99 of a decision: %.1f us with an audit database that works, %.1f us with one that is stalled;"
                            + " %d rows waited, %d allowed requests dropped%n",
                    p99(free), p99(stalled), waiting, audit.dropped());
            assertThat(waiting).isPositive();
            Awaitility.await().atMost(Duration.ofMinutes(1)).until(() -> audit.waiting() == 0);
            assertThat(database.number("SELECT sum(requests) FROM %srate_limit_audit_logs"))
                    .isEqualTo(220_000 - audit.dropped());
        }
    }

    /** Decisions of the store beside the audit trail end, too, and about as fast. */
    @Test
    void stalledAuditTrailDelaysNoDecisionOfTheSameDatabase() throws Exception {
        Limit limit = Limit.named("api")
                .algorithm(new FixedWindow(1_000_000, Duration.ofDays(1)))
                .build();
        LimitStore store = store(database);
        int turns = 4;
        int each = 500;
        long[] free = new long[turns * each];
        long[] stalled = new long[turns * each];
        try (RequestAudit audit = audit(AuditMode.ALL, 1_000);
                StoreRateLimiter limiter = StoreRateLimiter.builder(store, Limits.of(limit))
                        .grouping(Grouping.DEFAULT
                                .withGroupsInFlight(store.groupsAtOnce())
                                .withDeadline(Duration.ofMinutes(1)))
                        .listeners(List.of(audit))
                        .build()) {
            requests(limiter, each);
            for (int turn = 0; turn < turns; turn++) {
                System.arraycopy(requests(limiter, each), 0, free, turn * each, each);
                try (AutoCloseable stall = database.stall()) {
                    System.arraycopy(requests(limiter, each), 0, stalled, turn * each, each);
                    assertThat(audit.waiting()).isPositive();
                }
            }
            System.out.printf(
                    "Decisions of the store beside the audit trail: p99 %.0f us, median %.0f us; with an audit trail that is"
                            + " stalled: p99 %.0f us, median %.0f us%n",
                    p99(free), median(free), p99(stalled), median(stalled));
            // A decision that waits for the audit trail would take thousands of times as long.
            assertThat(median(stalled)).isLessThan(10 * median(free));
            Awaitility.await().atMost(Duration.ofMinutes(1)).until(() -> audit.waiting() == 0);
            assertThat(database.number("SELECT sum(requests) FROM %srate_limit_audit_logs"))
                    .isEqualTo((2L * turns + 1) * each - audit.dropped());
        }
    }

    private static double median(long[] nanos) {
        Arrays.sort(nanos);
        return nanos[nanos.length / 2] / 1_000.0;
    }

    private static long[] requests(StoreRateLimiter limiter, int count) {
        long[] nanos = new long[count];
        for (int i = 0; i < count; i++) {
            LimitRequest request = LimitRequest.of(Subject.user("user" + i % 100), "api");
            long start = System.nanoTime();
            Decision decision = limiter.decide(request);
            nanos[i] = System.nanoTime() - start;
            assertThat(decision.failure()).isNull();
        }
        return nanos;
    }

    private static double p99(long[] nanos) {
        Arrays.sort(nanos);
        return nanos[nanos.length / 100 * 99] / 1_000.0;
    }

    /** Three processes count, and one is killed while it writes. */
    @Test
    void totalsOfThreeInstancesOfWhichOneIsKilled() throws Exception {
        long requests = 20_000;
        Process killed = process("killed", Long.MAX_VALUE);
        Process one = process("one", requests);
        Process other = process("other", requests);
        long[] ofKilled = killSoon(killed);
        try {
            assertThat(ends(one)).isEqualTo(requests);
            assertThat(ends(other)).isEqualTo(requests);
        } finally {
            one.destroyForcibly();
            other.destroyForcibly();
        }
        try (RequestAudit sums = audit(AuditMode.OFF, 1_000)) {
            sums.flush(); // sums up hours and days
        }

        System.out.printf(
                "Killed instance: %d requests written for sure, %d answered at most, %d in the totals%n",
                ofKilled[0], ofKilled[1], total("killed", "minute"));
        assertThat(total("killed", "minute")).isBetween(ofKilled[0], ofKilled[1]);
        assertThat(total("one", "minute")).isEqualTo(requests);
        assertThat(total("other", "minute")).isEqualTo(requests);
        long all = total("", "minute");
        assertThat(all).isBetween(2 * requests + ofKilled[0], 2 * requests + ofKilled[1]);
        assertThat(total("", "hour")).isEqualTo(all);
        assertThat(total("", "day")).isEqualTo(all);
    }

    private Process process(String name, long requests) throws IOException {
        List<String> command = new ArrayList<>(List.of(
                Path.of(System.getProperty("java.home"), "bin", "java").toString(),
                "-Xmx128m",
                "-XX:+UseSerialGC",
                "-XX:TieredStopAtLevel=1"));
        if (Runtime.version().feature() >= 24) {
            command.add("--enable-native-access=ALL-UNNAMED");
        }
        command.addAll(List.of(
                "-cp", System.getProperty("java.class.path"), CountingProcess.class.getName(), name, "" + requests));
        command.addAll(database.address());
        return new ProcessBuilder(command)
                .redirectError(ProcessBuilder.Redirect.INHERIT)
                .start();
    }

    /**
     * Kills it after it has written a few times.
     *
     * @return how many requests were written for sure, and how many were answered at most
     */
    private static long[] killSoon(Process process) throws IOException {
        long written = 0;
        long answered = 0;
        int writes = 0;
        try (BufferedReader lines = process.inputReader(StandardCharsets.UTF_8)) {
            for (String line = lines.readLine(); line != null; line = lines.readLine()) {
                if (!line.endsWith(".")) {
                    break; // killed while it printed
                }
                long number = number(line);
                if (line.startsWith("answering")) {
                    answered = number;
                } else {
                    written = number;
                    writes += number > 0 ? 1 : 0;
                }
                if (writes == 5 && process.isAlive()) {
                    process.toHandle().destroyForcibly(); // leaves the rest of its lines to be read
                }
            }
        } finally {
            process.destroyForcibly();
        }
        assertThat(written).isPositive();
        return new long[] {written, answered};
    }

    private static long ends(Process process) throws IOException {
        String last = "written 0.";
        try (BufferedReader lines = process.inputReader(StandardCharsets.UTF_8)) {
            for (String line = lines.readLine(); line != null; line = lines.readLine()) {
                last = line.startsWith("written") ? line : last;
            }
        }
        return number(last);
    }

    /** The number in a line such as "written 100.". */
    private static long number(String line) {
        return Long.parseLong(line.substring(line.indexOf(' ') + 1, line.length() - 1));
    }

    private long total(String instance, String granularity) {
        return database.number("SELECT coalesce(sum(total), 0) FROM %srate_limit_metrics WHERE granularity = '"
                + granularity + "' AND resource = 'api' AND instance LIKE '"
                + (instance.isEmpty() ? "%" : instance + "/%") + "'");
    }
}
