package dev.ratelimit.redis;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;
import org.springframework.aot.hint.RuntimeHints;
import org.springframework.aot.hint.predicate.RuntimeHintsPredicates;

class RedisRuntimeHintsTest {

    @Test
    void scriptIsInANativeImage() {
        RuntimeHints hints = new RuntimeHints();
        new RedisRuntimeHints().registerHints(hints, getClass().getClassLoader());

        String script = "dev/ratelimit/store/redis/swap.lua";
        assertThat(RuntimeHintsPredicates.resource().forResource(script)).accepts(hints);
        assertThat(getClass().getClassLoader().getResource(script)).isNotNull();
    }
}
