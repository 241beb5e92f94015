package dev.ratelimit.redis;

import dev.ratelimit.database.CountsDatabase;
import dev.ratelimit.database.StoreProperties;
import dev.ratelimit.setting.InvalidPropertyException;
import dev.ratelimit.store.ForwardingLimitStore;
import dev.ratelimit.store.LimitStore;
import dev.ratelimit.store.redis.Acknowledge;
import dev.ratelimit.store.redis.RedisLimitStore;
import dev.ratelimit.store.redis.RedisOptions;
import java.time.Duration;
import java.time.InstantSource;
import org.jspecify.annotations.Nullable;
import org.springframework.boot.context.properties.bind.Bindable;
import org.springframework.boot.context.properties.bind.Binder;
import org.springframework.core.env.Environment;
import org.springframework.data.redis.connection.lettuce.LettuceConnectionFactory;

/** The Redis that the application is connected to, with a connection of our own. */
final class RedisDatabase implements CountsDatabase {

    /** For the checks at startup: a cold process takes far longer than a decision may. */
    private static final Duration LONGEST_CHECK = Duration.ofSeconds(3);

    private final ApplicationRedis application;
    private final Environment environment;

    RedisDatabase(ApplicationRedis application, Environment environment) {
        this.application = application;
        this.environment = environment;
    }

    @Override
    public boolean isConfigured() {
        return application.isConfigured();
    }

    @Override
    public LimitStore open(Duration deadline, @Nullable InstantSource clock) {
        LettuceConnectionFactory theirs = application.factory();
        RedisOptions options = options(deadline, clock);
        check(theirs, options);
        LettuceConnectionFactory ours = OwnConnections.like(theirs, deadline);
        try {
            return new StoreWithConnections(RedisLimitStore.open(ours.getRequiredNativeClient(), options), ours);
        } catch (RuntimeException e) {
            ours.destroy();
            throw e;
        }
    }

    /** On connections of their own, which may wait longer. */
    private void check(LettuceConnectionFactory theirs, RedisOptions options) {
        String where = ApplicationRedis.described(ApplicationRedis.configuration(theirs));
        LettuceConnectionFactory patient = OwnConnections.like(theirs, LONGEST_CHECK);
        try {
            new RedisRequirements(where, options, isRequired()).check(patient.getRequiredNativeClient());
        } finally {
            patient.destroy();
        }
    }

    private boolean isRequired() {
        return Binder.get(environment)
                .bind("ratelimit.store.required", Boolean.class)
                .orElse(true);
    }

    private RedisOptions options(Duration deadline, @Nullable InstantSource clock) {
        StoreProperties.Redis redis =
                Binder.get(environment).bindOrCreate("ratelimit.store.redis", Bindable.of(StoreProperties.Redis.class));
        RedisOptions options = RedisOptions.DEFAULT
                .withDeadline(deadline)
                .withAcknowledge(Acknowledge.valueOf(redis.acknowledge().name()))
                .withClock(clock);
        try {
            return options.withKeyPrefix(redis.keyPrefix());
        } catch (IllegalArgumentException e) {
            throw new InvalidPropertyException(
                    "ratelimit.store.redis.key-prefix",
                    redis.keyPrefix(),
                    "write 1 to 100 characters without braces, such as rl:");
        }
    }

    @Override
    public int groupsAtOnce() {
        return 2;
    }

    /** For log lines, and for operators. */
    @Override
    public String toString() {
        try {
            return ApplicationRedis.described(ApplicationRedis.configuration(application.factory()));
        } catch (RedisRefusedException e) {
            return "Redis"; // opening it tells what is wrong
        }
    }

    /** Ends the connections of the store with it. */
    private static final class StoreWithConnections extends ForwardingLimitStore {

        private final LettuceConnectionFactory connections;

        private StoreWithConnections(LimitStore store, LettuceConnectionFactory connections) {
            super(store);
            this.connections = connections;
        }

        @Override
        public void close() {
            super.close();
            connections.destroy();
        }
    }
}
