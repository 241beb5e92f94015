package dev.ratelimit.autoconfigure;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;
import org.springframework.aot.hint.RuntimeHints;
import org.springframework.aot.hint.RuntimeHintsRegistrar;
import org.springframework.aot.hint.predicate.RuntimeHintsPredicates;
import org.springframework.beans.factory.aot.AotServices;

class RateLimitRuntimeHintsTest {

    @Test
    void migrationsAreInANativeImage() {
        RuntimeHints hints = new RuntimeHints();
        new RateLimitRuntimeHints().registerHints(hints, getClass().getClassLoader());

        for (String migration : new String[] {
            "dev/ratelimit/schema/sqlite/V1__state_and_penalties.sql",
            "dev/ratelimit/schema/postgresql/V1__state_and_penalties.sql",
            "dev/ratelimit/schema/postgresql/V2__decide_v1.sql"
        }) {
            assertThat(RuntimeHintsPredicates.resource().forResource(migration)).accepts(hints);
            assertThat(getClass().getClassLoader().getResource(migration)).isNotNull();
        }
    }

    @Test
    void hintsAreRegistered() {
        assertThat(AotServices.factories().load(RuntimeHintsRegistrar.class))
                .anyMatch(RateLimitRuntimeHints.class::isInstance);
    }
}
