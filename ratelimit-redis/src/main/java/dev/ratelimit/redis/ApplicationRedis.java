package dev.ratelimit.redis;

import java.util.Collection;
import org.jspecify.annotations.Nullable;
import org.springframework.beans.factory.NoUniqueBeanDefinitionException;
import org.springframework.beans.factory.ObjectProvider;
import org.springframework.core.env.Environment;
import org.springframework.data.redis.connection.RedisClusterConfiguration;
import org.springframework.data.redis.connection.RedisConfiguration;
import org.springframework.data.redis.connection.RedisConnectionFactory;
import org.springframework.data.redis.connection.RedisNode;
import org.springframework.data.redis.connection.RedisSentinelConfiguration;
import org.springframework.data.redis.connection.RedisSocketConfiguration;
import org.springframework.data.redis.connection.RedisStandaloneConfiguration;
import org.springframework.data.redis.connection.lettuce.LettuceConnectionFactory;
import org.springframework.util.ClassUtils;

/** The connection settings of the application, read from its connection factory. No connection of the application is used. */
final class ApplicationRedis {

    /** The property of Spring Boot, with the index of the first server. */
    private static final String STATIC_NODES = "spring.data.redis.masterreplica.nodes";

    private final ObjectProvider<RedisConnectionFactory> factories;
    private final Environment environment;

    ApplicationRedis(ObjectProvider<RedisConnectionFactory> factories, Environment environment) {
        this.factories = factories;
        this.environment = environment;
    }

    /** Whether the application has a connection factory, of whatever client. */
    boolean isConfigured() {
        return factories.stream().findAny().isPresent();
    }

    /**
     * The only or primary connection factory.
     *
     * @throws RedisRefusedException if there is none, several, or one of another client
     */
    LettuceConnectionFactory factory() {
        RedisConnectionFactory found = only();
        if (found == null) {
            throw new RedisRefusedException(
                    "the application has no bean of type RedisConnectionFactory",
                    "Set spring.data.redis.host or spring.data.redis.url, and do not exclude DataRedisAutoConfiguration. Or"
                            + " define a bean of type LettuceConnectionFactory.");
        }
        if (!(found instanceof LettuceConnectionFactory lettuce)) {
            throw new RedisRefusedException(
                    "the RedisConnectionFactory of the application is a "
                            + ClassUtils.getUserClass(found).getName() + ", but rate limits need Lettuce",
                    "Set spring.data.redis.client-type to lettuce, or remove it and the dependency redis.clients:jedis. Or"
                            + " define a primary bean of type LettuceConnectionFactory.");
        }
        if (environment.containsProperty(STATIC_NODES) || environment.containsProperty(STATIC_NODES + "[0]")) {
            throw new RedisRefusedException(
                    STATIC_NODES + " lists servers, but not which of them is the master now",
                    "Name the master with spring.data.redis.host, or set spring.data.redis.sentinel.nodes and"
                            + " spring.data.redis.sentinel.master, so that the limiter follows a failover.");
        }
        return lettuce;
    }

    private @Nullable RedisConnectionFactory only() {
        try {
            return factories.getIfAvailable();
        } catch (NoUniqueBeanDefinitionException e) {
            Collection<String> names = e.getBeanNamesFound();
            throw new RedisRefusedException(
                    "the application has several beans of type RedisConnectionFactory, and none is primary: "
                            + (names == null ? e.getMessage() : names),
                    "Annotate the one that leads to the Redis for rate limits with @Primary.");
        }
    }

    /** How the factory finds its servers. */
    static RedisConfiguration configuration(LettuceConnectionFactory factory) {
        RedisClusterConfiguration cluster = factory.getClusterConfiguration();
        if (cluster != null) {
            return cluster;
        }
        RedisSentinelConfiguration sentinel = factory.getSentinelConfiguration();
        if (sentinel != null) {
            return sentinel;
        }
        RedisSocketConfiguration socket = factory.getSocketConfiguration();
        return socket != null ? socket : factory.getStandaloneConfiguration();
    }

    /** Names the servers for people, such as {@code Redis at localhost:6379}. */
    static String described(RedisConfiguration configuration) {
        if (configuration instanceof RedisClusterConfiguration cluster) {
            return "the Redis Cluster at " + nodes(cluster.getClusterNodes());
        }
        if (configuration instanceof RedisSentinelConfiguration sentinel) {
            return "the Redis master " + sentinel.getMaster() + " of the Sentinels at "
                    + nodes(sentinel.getSentinels());
        }
        if (configuration instanceof RedisSocketConfiguration socket) {
            return "Redis at " + socket.getSocket() + database(socket.getDatabase());
        }
        RedisStandaloneConfiguration server = (RedisStandaloneConfiguration) configuration;
        return "Redis at " + server.getHostName() + ":" + server.getPort() + database(server.getDatabase());
    }

    private static String database(int index) {
        return index == 0 ? "" : ", database " + index;
    }

    private static String nodes(Iterable<RedisNode> nodes) {
        StringBuilder names = new StringBuilder();
        for (RedisNode node : nodes) {
            names.append(names.isEmpty() ? "" : ", ").append(node.asString());
        }
        return names.toString();
    }
}
