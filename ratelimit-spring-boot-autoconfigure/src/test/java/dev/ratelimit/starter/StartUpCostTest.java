package dev.ratelimit.starter;

import static org.assertj.core.api.Assertions.assertThat;

import dev.ratelimit.RateLimiter;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.condition.EnabledIfSystemProperty;
import org.junit.jupiter.api.io.TempDir;
import org.springframework.boot.autoconfigure.EnableAutoConfiguration;
import org.springframework.context.annotation.Configuration;

/** Measures what the starter adds to the start of a web application; the figures are in docs/performance.md. */
@EnabledIfSystemProperty(
        named = "ratelimit.measure",
        matches = "true",
        disabledReason = "a measurement, run with -Dratelimit.measure=true")
class StartUpCostTest {

    private static final int ROUNDS = 15;

    @TempDir
    Path folder;

    @Configuration(proxyBeanMethods = false)
    @EnableAutoConfiguration
    static class Application {}

    @Test
    void startWithLimitsBesideStartWithout() {
        List<Long> without = new ArrayList<>();
        List<Long> with = new ArrayList<>();
        for (int round = 0; round < ROUNDS; round++) {
            long off = millisToStart(false);
            long on = millisToStart(true);
            if (round >= 3) { // the first ones warm up
                without.add(off);
                with.add(on);
            }
        }
        System.out.printf(
                "start-up: %d ms without, %d ms with the starter on an SQLite file (medians of %d, interleaved)%n",
                median(without), median(with), without.size());
    }

    private long millisToStart(boolean enabled) {
        long start = System.nanoTime();
        try (RunningApplication application = RunningApplication.start(
                List.of(Application.class),
                "ratelimit.enabled=" + enabled,
                "ratelimit.store.sqlite.path=" + folder.resolve("ratelimit.db"),
                "ratelimit.limits.api.algorithm=sliding-window",
                "ratelimit.limits.api.max-requests=100",
                "ratelimit.limits.api.window=1m",
                "ratelimit.rules.api.path=/api/**",
                "ratelimit.rules.api.limits=api")) {
            long millis = (System.nanoTime() - start) / 1_000_000;
            assertThat(application.has(RateLimiter.class)).isEqualTo(enabled);
            return millis;
        }
    }

    private static long median(List<Long> times) {
        Collections.sort(times);
        return times.get(times.size() / 2);
    }
}
