package dev.ratelimit.autoconfigure;

import static org.assertj.core.api.Assertions.assertThat;

import dev.ratelimit.admin.ApiKeyAdmin;
import dev.ratelimit.admin.NewApiKey;
import dev.ratelimit.admin.RateLimitAdmin;
import dev.ratelimit.admin.version.Change;
import dev.ratelimit.caller.ApiKeys;
import dev.ratelimit.store.LimitStore;
import dev.ratelimit.testing.postgres.TestPostgres;
import java.nio.file.Path;
import java.time.Clock;
import java.time.Duration;
import java.time.Instant;
import java.time.InstantSource;
import java.time.ZoneOffset;
import java.util.concurrent.atomic.AtomicReference;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.springframework.boot.autoconfigure.AutoConfigurations;
import org.springframework.boot.test.context.runner.WebApplicationContextRunner;
import org.springframework.context.ConfigurableApplicationContext;

/** A bean named {@code rateLimitClock} gives the time to everything. */
class ClockBeanTest {

    private static final Instant START = Instant.parse("2031-05-06T07:08:09Z");

    private static final String SCHEMA = TestPostgres.instance().freshSchema();

    @TempDir
    Path folder;

    private final AtomicReference<Instant> now = new AtomicReference<>(START);
    private final InstantSource clock = now::get;

    private WebApplicationContextRunner application(String store) {
        return new WebApplicationContextRunner()
                .withConfiguration(AutoConfigurations.of(
                        RateLimitAutoConfiguration.class,
                        RateLimitPolicyAutoConfiguration.class,
                        RateLimitWebAutoConfiguration.class))
                .withPropertyValues(
                        "ratelimit.store.type=" + store,
                        "ratelimit.store.sqlite.path=" + folder.resolve("limits.db"),
                        "ratelimit.store.postgresql.url="
                                + TestPostgres.instance().jdbcUrl(),
                        "ratelimit.store.postgresql.schema=" + SCHEMA);
    }

    @ParameterizedTest
    @ValueSource(strings = {"memory", "sqlite", "postgresql"})
    void everyStoreTakesIt(String store) {
        application(store)
                .withBean(RateLimitClocks.BEAN, InstantSource.class, () -> clock)
                .run(context ->
                        assertThat(context.getBean(LimitStore.class).clock()).isSameAs(clock));
    }

    @Test
    void storedPoliciesTakeIt() {
        application("sqlite")
                .withBean(RateLimitClocks.BEAN, InstantSource.class, () -> clock)
                .run(this::keyExpiresByTheClock);
    }

    private void keyExpiresByTheClock(ConfigurableApplicationContext context) {
        ApiKeyAdmin.IssuedKey key = context.getBean(RateLimitAdmin.class)
                .keys()
                .create(NewApiKey.of("test", "alice").expires(START.plusSeconds(60)), Change.by("test"));
        ApiKeys keys = context.getBean(ApiKeys.class);
        assertThat(keys.recognise(key.secret())).isNotNull();

        now.set(START.plus(Duration.ofMinutes(1)));

        assertThat(keys.recognise(key.secret())).isNull();
    }

    @Test
    void clockOfTheApplicationIsNotTaken() {
        application("memory")
                .withBean(Clock.class, () -> Clock.fixed(START, ZoneOffset.UTC))
                .run(context ->
                        assertThat(context.getBean(LimitStore.class).clock()).isNull());
    }
}
