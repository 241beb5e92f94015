package dev.ratelimit.starter;

import static org.assertj.core.api.Assertions.assertThat;

import dev.ratelimit.annotation.RateLimited;
import dev.ratelimit.testing.postgres.TestPostgres;
import java.io.IOException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.locks.LockSupport;
import jdk.jfr.Recording;
import jdk.jfr.consumer.RecordedEvent;
import jdk.jfr.consumer.RecordingFile;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.condition.EnabledForJreRange;
import org.junit.jupiter.api.condition.JRE;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.springframework.context.annotation.Configuration;
import org.springframework.web.bind.annotation.GetMapping;
import org.springframework.web.bind.annotation.RestController;

/** Many requests at once, each on a virtual thread of its own. */
class VirtualThreadsTest {

    private static final int MANY = 100;
    private static final int AT_ONCE = 50;
    private static final int REQUESTS = 300;
    private static final String PINNED = "jdk.VirtualThreadPinned";

    @TempDir
    Path folder;

    @Configuration(proxyBeanMethods = false)
    @WithoutSecurity
    static class Application {}

    @RestController
    static class Endpoints {

        @GetMapping("/ruled")
        String ruled() throws ReflectiveOperationException {
            return thread();
        }

        @GetMapping("/annotated")
        @RateLimited(limit = "annotated", countWhen = "#status == 200")
        String annotated() throws ReflectiveOperationException {
            return thread();
        }

        @GetMapping("/warm-up")
        @RateLimited("warm-up")
        String warmUp() {
            return "warm";
        }

        private static String thread() throws ReflectiveOperationException {
            boolean virtual = (boolean) Thread.class.getMethod("isVirtual").invoke(Thread.currentThread());
            return virtual ? "virtual" : "platform";
        }
    }

    /** Parks while a class is initialised, which pins on every Java that has virtual threads. */
    static final class Pinning {

        static {
            LockSupport.parkNanos(Duration.ofMillis(50).toNanos());
        }

        static void initialise() {}
    }

    @ParameterizedTest
    @ValueSource(strings = {"sqlite", "postgresql"})
    @EnabledForJreRange(min = JRE.JAVA_21, disabledReason = "this Java has no virtual threads")
    void exactlyAsManyAsTheLimitSaysPassAndNothingPins(String store) throws Exception {
        try (RunningApplication application = start(store);
                Recording recording = new Recording()) {
            together(AT_ONCE, () -> application.get("/warm-up").body());
            start(recording);

            List<String> ruled = together(REQUESTS, () -> answer(application, "/ruled"));
            List<String> annotated = together(REQUESTS, () -> answer(application, "/annotated"));
            recording.stop();

            assertThat(ruled).filteredOn("200 virtual"::equals).hasSize(MANY);
            assertThat(ruled).filteredOn("429"::equals).hasSize(REQUESTS - MANY);
            assertThat(annotated).filteredOn("200 virtual"::equals).hasSize(MANY);
            assertThat(annotated).filteredOn("429"::equals).hasSize(REQUESTS - MANY);
            assertThat(pinned(recording)).isEmpty();
        }
    }

    /** Otherwise the test above would prove nothing. */
    @Test
    @EnabledForJreRange(min = JRE.JAVA_21, disabledReason = "this Java has no virtual threads")
    void threadThatIsPinnedIsSeen() throws Exception {
        try (Recording recording = new Recording()) {
            start(recording);
            startVirtualThread(Pinning::initialise).join();
            recording.stop();

            assertThat(pinned(recording)).singleElement().asString().contains("VirtualThreadsTest$Pinning");
        }
    }

    private static void start(Recording recording) {
        recording.enable(PINNED).withoutThreshold().withStackTrace();
        recording.start();
    }

    private List<String> pinned(Recording recording) throws IOException {
        Path file = folder.resolve("pinned.jfr");
        recording.dump(file);
        return RecordingFile.readAllEvents(file).stream()
                .filter(event -> event.getEventType().getName().equals(PINNED))
                .map(RecordedEvent::toString)
                .toList();
    }

    private RunningApplication start(String store) {
        return RunningApplication.start(
                List.of(Application.class, Endpoints.class),
                "spring.threads.virtual.enabled=true",
                "ratelimit.store.type=" + store,
                "ratelimit.store.sqlite.path=" + folder.resolve("ratelimit.db"),
                "ratelimit.store.postgresql.url=" + TestPostgres.instance().jdbcUrl(),
                "ratelimit.store.postgresql.schema=" + TestPostgres.instance().freshSchema(),
                "ratelimit.store.deadline=60s",
                "ratelimit.limits.ruled.algorithm=fixed-window",
                "ratelimit.limits.ruled.max-requests=" + MANY,
                "ratelimit.limits.ruled.window=3660d",
                "ratelimit.limits.annotated.base=ruled",
                "ratelimit.limits.warm-up.base=ruled",
                "ratelimit.limits.warm-up.max-requests=1000",
                "ratelimit.rules.ruled.path=/ruled",
                "ratelimit.rules.ruled.limits=ruled",
                "ratelimit.rules.warm-up.path=/warm-up",
                "ratelimit.rules.warm-up.key=ip",
                "ratelimit.rules.warm-up.limits=warm-up");
    }

    private static String answer(RunningApplication application, String path) throws Exception {
        var response = application.get(path);
        return response.statusCode() == 200 ? "200 " + response.body() : Integer.toString(response.statusCode());
    }

    private static List<String> together(int times, Callable<String> request) throws Exception {
        ExecutorService threads = Executors.newFixedThreadPool(AT_ONCE);
        try {
            List<Future<String>> answers = new ArrayList<>();
            for (int i = 0; i < times; i++) {
                answers.add(threads.submit(request));
            }
            List<String> read = new ArrayList<>();
            for (Future<String> answer : answers) {
                read.add(answer.get());
            }
            return read;
        } finally {
            threads.shutdownNow();
        }
    }

    /** {@code Thread.startVirtualThread}, which Java 17 does not have. */
    private static Thread startVirtualThread(Runnable work) throws ReflectiveOperationException {
        return (Thread)
                Thread.class.getMethod("startVirtualThread", Runnable.class).invoke(null, work);
    }
}
