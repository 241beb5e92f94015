package dev.ratelimit.support;

import static org.assertj.core.api.Assertions.assertThat;

import java.net.URL;
import java.net.URLClassLoader;
import java.util.concurrent.ThreadFactory;
import java.util.stream.Stream;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

class DaemonThreadsTest {

    static Stream<ThreadFactory> factories() {
        return Stream.of(DaemonThreads.named("a"), DaemonThreads.numbered("a"));
    }

    /** Filters are created while Tomcat has its class loader on the thread. It warns of threads that outlive a failed start. */
    @ParameterizedTest
    @MethodSource("factories")
    void threadDoesNotHoldTheLoaderOfAWebApplication(ThreadFactory threads) throws Exception {
        Thread here = Thread.currentThread();
        ClassLoader before = here.getContextClassLoader();
        try (URLClassLoader ofTomcat = new URLClassLoader(new URL[0], before)) {
            here.setContextClassLoader(ofTomcat);
            assertThat(threads.newThread(() -> {}).getContextClassLoader())
                    .isSameAs(DaemonThreads.class.getClassLoader());
        } finally {
            here.setContextClassLoader(before);
        }
    }
}
