package dev.ratelimit.benchmark.load;

import com.sun.management.OperatingSystemMXBean;
import java.lang.management.ManagementFactory;
import java.lang.management.ThreadInfo;
import java.lang.management.ThreadMXBean;

/**
 * Processor time, in nanoseconds.
 *
 * @param clock when it was
 * @param java of this process
 * @param workers of it: those that decide for others
 * @param postgres of the processes of the database
 * @param idle the part of the time, since it was last asked, in which no processor had anything to do
 */
public record Usage(long clock, long java, long workers, long postgres, double idle) {

    public static Usage now(ProcessHandle server) {
        OperatingSystemMXBean system = (OperatingSystemMXBean) ManagementFactory.getOperatingSystemMXBean();
        ThreadMXBean threads = ManagementFactory.getThreadMXBean();
        long workers = 0;
        for (long id : threads.getAllThreadIds()) {
            ThreadInfo thread = threads.getThreadInfo(id);
            if (thread != null && thread.getThreadName().startsWith("ratelimit-group")) {
                workers += Math.max(0, threads.getThreadCpuTime(id));
            }
        }
        long postgres = DatabaseTime.now(server).nanos();
        return new Usage(System.nanoTime(), system.getProcessCpuTime(), workers, postgres, 1 - system.getCpuLoad());
    }

    public Usage since(Usage before) {
        return new Usage(
                clock - before.clock, java - before.java, workers - before.workers, postgres - before.postgres, idle);
    }
}
