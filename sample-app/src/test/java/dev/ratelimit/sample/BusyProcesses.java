package dev.ratelimit.sample;

import java.io.IOException;
import java.net.URISyntaxException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;

/** Processes that do nothing but use the processor. They end by themselves if nobody ends them. */
final class BusyProcesses implements AutoCloseable {

    private static final Duration AT_MOST = Duration.ofMinutes(4);

    private final List<Process> processes = new ArrayList<>();

    private BusyProcesses() {}

    /** Starts so many, and waits until all of them are busy. */
    static BusyProcesses start(int number) throws IOException {
        BusyProcesses busy = new BusyProcesses();
        try {
            for (int i = 0; i < number; i++) {
                busy.processes.add(new ProcessBuilder(
                                ChildJvm.java(),
                                "-Xmx16m",
                                "-XX:+UseSerialGC",
                                "-XX:TieredStopAtLevel=1",
                                "-cp",
                                classFolder(),
                                Loop.class.getName(),
                                String.valueOf(AT_MOST.toSeconds()))
                        .redirectError(ProcessBuilder.Redirect.INHERIT)
                        .start());
            }
            for (Process process : busy.processes) {
                if (process.getInputStream().read() < 0) {
                    throw new IllegalStateException("a busy process has ended");
                }
            }
            return busy;
        } catch (IOException | RuntimeException e) {
            busy.close();
            throw e;
        }
    }

    private static String classFolder() {
        try {
            return Path.of(BusyProcesses.class
                            .getProtectionDomain()
                            .getCodeSource()
                            .getLocation()
                            .toURI())
                    .toString();
        } catch (URISyntaxException e) {
            throw new IllegalStateException(e);
        }
    }

    boolean areAllBusy() {
        return processes.stream().allMatch(Process::isAlive);
    }

    @Override
    public void close() {
        processes.forEach(Process::destroyForcibly);
        for (Process process : processes) {
            try {
                process.waitFor(10, TimeUnit.SECONDS);
            } catch (InterruptedException e) {
                Thread.currentThread().interrupt();
            }
        }
    }

    /** The main class of each. */
    static final class Loop {

        private Loop() {}

        public static void main(String[] args) {
            long end = System.nanoTime() + TimeUnit.SECONDS.toNanos(Long.parseLong(args[0]));
            System.out.print('.');
            System.out.flush();
            while (System.nanoTime() - end < 0) {
                Thread.onSpinWait();
            }
        }
    }
}
