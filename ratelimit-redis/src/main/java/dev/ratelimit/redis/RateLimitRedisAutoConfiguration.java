package dev.ratelimit.redis;

import dev.ratelimit.database.CountsDatabase;
import org.springframework.beans.factory.ObjectProvider;
import org.springframework.boot.autoconfigure.AutoConfiguration;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.ImportRuntimeHints;
import org.springframework.core.env.Environment;
import org.springframework.data.redis.connection.RedisConnectionFactory;

/** Contributes Redis as a place for counts. It is opened only if it is chosen. */
@AutoConfiguration(
        beforeName = "dev.ratelimit.autoconfigure.RateLimitAutoConfiguration",
        afterName = "org.springframework.boot.data.redis.autoconfigure.DataRedisAutoConfiguration")
@ImportRuntimeHints(RedisRuntimeHints.class)
public final class RateLimitRedisAutoConfiguration {

    @Bean
    CountsDatabase rateLimitRedis(ObjectProvider<RedisConnectionFactory> connections, Environment environment) {
        return new RedisDatabase(new ApplicationRedis(connections, environment), environment);
    }
}
