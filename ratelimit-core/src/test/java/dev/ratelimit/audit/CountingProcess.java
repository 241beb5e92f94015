package dev.ratelimit.audit;

import dev.ratelimit.audit.report.AuditEntry;
import dev.ratelimit.gate.Subjects;
import java.time.Duration;
import java.time.InstantSource;
import java.util.List;
import java.util.concurrent.atomic.AtomicLong;

/**
 * An instance in a process of its own: it answers requests and writes their totals without a pause, until it is killed or has
 * answered all. Before it answers, it prints how many it will have answered then; and how many are written for sure.
 */
final class CountingProcess {

    private static final int REQUESTS_AT_ONCE = 50;

    private CountingProcess() {}

    public static void main(String[] arguments) throws InterruptedException {
        String name = arguments[0];
        long most = Long.parseLong(arguments[1]);
        List<String> address = List.of(arguments).subList(2, arguments.length);
        AuditSettings settings = new AuditSettings(
                AuditMode.OFF,
                true,
                0,
                new AuditEntry.Origin(name, ""),
                1_000,
                10,
                new Subjects(64),
                Duration.ofMinutes(1));
        AtomicLong answered = new AtomicLong();
        try (RequestAudit audit =
                new RequestAudit(AuditTestDatabase.at(address), settings, InstantSource.system(), CacheUse.NONE)) {
            Thread writing = new Thread(() -> {
                while (!Thread.currentThread().isInterrupted()) {
                    long before = answered.get();
                    audit.flush();
                    System.out.println("written " + before + ".");
                }
            });
            writing.setDaemon(true);
            writing.start();
            for (long count = 0; count < most; count += REQUESTS_AT_ONCE) {
                System.out.println("answering " + (count + REQUESTS_AT_ONCE) + ".");
                for (int i = 0; i < REQUESTS_AT_ONCE; i++) {
                    audit.recorded(TestRequests.allowed("user" + i % 7, "api"));
                }
                answered.addAndGet(REQUESTS_AT_ONCE);
                Thread.sleep(1); // the pace of requests
            }
            writing.interrupt();
            writing.join();
        }
        System.out.println("written " + most + ".");
    }
}
