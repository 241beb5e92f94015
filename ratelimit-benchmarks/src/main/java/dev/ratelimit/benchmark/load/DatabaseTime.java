package dev.ratelimit.benchmark.load;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/**
 * Processor time of the processes of the database up to a moment, user and system. A process that ends is no longer seen: the
 * time that it used since the last look is lost, so pools have to be open before.
 */
public final class DatabaseTime {

    /** For contenders that use no database, or not this one. */
    public static final DatabaseTime NOT_MEASURED = new DatabaseTime(Map.of());

    private final Map<Long, Long> nanosByProcess;

    private DatabaseTime(Map<Long, Long> nanosByProcess) {
        this.nanosByProcess = nanosByProcess;
    }

    /**
     * @param server the process whose children serve the connections
     */
    public static DatabaseTime now(ProcessHandle server) {
        return now(server.children().toList());
    }

    /**
     * @param servers the processes that serve the connections
     */
    public static DatabaseTime now(List<ProcessHandle> servers) {
        Map<Long, Long> nanos = new HashMap<>();
        servers.forEach(process -> nanos.put(process.pid(), nanos(process)));
        return new DatabaseTime(nanos);
    }

    /** The scheduler's own count is exact; the other one is in steps of ten milliseconds. */
    private static long nanos(ProcessHandle process) {
        try {
            String counts = Files.readString(Path.of("/proc/" + process.pid() + "/schedstat"));
            return Long.parseLong(counts.substring(0, counts.indexOf(' ')));
        } catch (IOException | RuntimeException e) {
            return process.info().totalCpuDuration().orElse(Duration.ZERO).toNanos();
        }
    }

    public long nanos() {
        return nanosByProcess.values().stream().mapToLong(Long::longValue).sum();
    }

    /** The time used since then, by those that are still there; {@code NaN} if it was not measured. */
    public double nanosSince(DatabaseTime before) {
        if (this == NOT_MEASURED) {
            return Double.NaN;
        }
        long since = 0;
        for (Map.Entry<Long, Long> process : nanosByProcess.entrySet()) {
            since += process.getValue() - before.nanosByProcess.getOrDefault(process.getKey(), 0L);
        }
        return since;
    }
}
