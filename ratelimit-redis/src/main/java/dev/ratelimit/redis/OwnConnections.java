package dev.ratelimit.redis;

import io.lettuce.core.ClientOptions;
import io.lettuce.core.ClientOptions.DisconnectedBehavior;
import io.lettuce.core.SocketOptions;
import io.lettuce.core.TimeoutOptions;
import io.lettuce.core.TimeoutOptions.TimeoutSource;
import io.lettuce.core.cluster.ClusterClientOptions;
import io.lettuce.core.cluster.ClusterTopologyRefreshOptions;
import io.lettuce.core.protocol.CommandType;
import io.lettuce.core.protocol.RedisCommand;
import java.time.Duration;
import java.util.concurrent.TimeUnit;
import org.springframework.data.redis.connection.RedisConfiguration;
import org.springframework.data.redis.connection.lettuce.LettuceClientConfiguration;
import org.springframework.data.redis.connection.lettuce.LettuceClientConfiguration.LettuceClientConfigurationBuilder;
import org.springframework.data.redis.connection.lettuce.LettuceClientConfiguration.LettuceSslClientConfigurationBuilder;
import org.springframework.data.redis.connection.lettuce.LettuceConnectionFactory;

/**
 * Makes connection factories of our own, to the servers of the application's, with its credentials, TLS and threads. They differ
 * where a decision needs it: they never wait, never send a command twice, and never read from a replica.
 */
final class OwnConnections {

    /** The timeout of Lettuce itself. A request cannot wait so long, and neither should the startup. */
    private static final Duration LIBRARY_CONNECT_TIMEOUT = SocketOptions.DEFAULT_CONNECT_TIMEOUT_DURATION;

    private static final Duration CONNECT_TIMEOUT = Duration.ofSeconds(2);

    /** For the handshake of a connection; a cold process takes far longer than a decision may. */
    private static final Duration HANDSHAKE_TIMEOUT = Duration.ofSeconds(2);

    private static final Duration REFRESH_PERIOD = Duration.ofSeconds(30);
    private static final Duration BETWEEN_ADAPTIVE_REFRESHES = Duration.ofSeconds(5);

    private OwnConnections() {}

    /**
     * Makes a started factory. The caller destroys it.
     *
     * @param application the one of the application
     * @param timeout the longest time that a command takes
     */
    static LettuceConnectionFactory like(LettuceConnectionFactory application, Duration timeout) {
        RedisConfiguration configuration = ApplicationRedis.configuration(application);
        LettuceConnectionFactory factory =
                new LettuceConnectionFactory(configuration, client(application.getClientConfiguration(), timeout));
        factory.setShareNativeConnection(false);
        factory.afterPropertiesSet();
        factory.start();
        return factory;
    }

    static LettuceClientConfiguration client(LettuceClientConfiguration application, Duration timeout) {
        LettuceClientConfigurationBuilder builder = LettuceClientConfiguration.builder();
        if (application.isUseSsl()) {
            LettuceSslClientConfigurationBuilder ssl = builder.useSsl().verifyPeer(application.getVerifyMode());
            if (application.isStartTls()) {
                ssl.startTls();
            }
        }
        application.getClientResources().ifPresent(builder::clientResources);
        application.getClientName().ifPresent(builder::clientName);
        application.getRedisCredentialsProviderFactory().ifPresent(builder::redisCredentialsProviderFactory);
        return builder.clientOptions(options(application.getClientOptions().orElseGet(ClientOptions::create), timeout))
                .commandTimeout(timeout.compareTo(HANDSHAKE_TIMEOUT) > 0 ? timeout : HANDSHAKE_TIMEOUT)
                .shutdownTimeout(application.getShutdownTimeout())
                .shutdownQuietPeriod(application.getShutdownQuietPeriod())
                .build();
    }

    /** For a cluster and for a single server: what only a cluster needs is without effect for the other. */
    private static ClientOptions options(ClientOptions application, Duration timeout) {
        ClusterClientOptions.Builder options = ClusterClientOptions.builder(application);
        options.autoReconnect(true)
                .disconnectedBehavior(DisconnectedBehavior.REJECT_COMMANDS)
                .socketOptions(application
                        .getSocketOptions()
                        .mutate()
                        .connectTimeout(connectTimeout(application.getSocketOptions()))
                        .build())
                .timeoutOptions(TimeoutOptions.builder()
                        .timeoutSource(new ExceptSwaps(timeout))
                        .build())
                .replayFilter(command -> true);
        return options.topologyRefreshOptions(refresh(application)).build();
    }

    /**
     * The store waits for a swap until its deadline, and cancels it then. A timer of Lettuce for each of them would only repeat
     * that. Where somebody else waits for the same command, such as at startup, the timeout of the connection applies.
     */
    private static final class ExceptSwaps extends TimeoutSource {

        private static final long THAT_OF_THE_CONNECTION = -1;

        private final long nanos;

        ExceptSwaps(Duration timeout) {
            this.nanos = timeout.toNanos();
        }

        @Override
        public long getTimeout(RedisCommand<?, ?, ?> command) {
            return command.getType() == CommandType.EVALSHA ? THAT_OF_THE_CONNECTION : nanos;
        }

        @Override
        public TimeUnit getTimeUnit() {
            return TimeUnit.NANOSECONDS;
        }
    }

    /**
     * As the application refreshes. Where it has no settings: periodically, and at once when something has moved. The period is always
     * there: no trigger notices a server that is silent.
     */
    @SuppressWarnings("deprecation") // Lettuce 6 has no triggers unless they are enabled
    private static ClusterTopologyRefreshOptions refresh(ClientOptions application) {
        ClusterTopologyRefreshOptions theirs =
                application instanceof ClusterClientOptions cluster ? cluster.getTopologyRefreshOptions() : null;
        if (theirs != null && theirs.isPeriodicRefreshEnabled()) {
            return theirs;
        }
        if (theirs != null && hasTriggers(theirs)) {
            return new WithPeriod(theirs);
        }
        return ClusterTopologyRefreshOptions.builder()
                .dynamicRefreshSources(theirs == null || theirs.useDynamicRefreshSources())
                .enablePeriodicRefresh(REFRESH_PERIOD)
                .enableAllAdaptiveRefreshTriggers()
                .adaptiveRefreshTriggersTimeout(BETWEEN_ADAPTIVE_REFRESHES)
                .build();
    }

    /** The same options with a period. Lettuce 6 and 7 have no builder in common that would copy them. */
    private static final class WithPeriod extends ClusterTopologyRefreshOptions {

        WithPeriod(ClusterTopologyRefreshOptions options) {
            super(options);
        }

        @Override
        public boolean isPeriodicRefreshEnabled() {
            return true;
        }

        @Override
        public Duration getRefreshPeriod() {
            return REFRESH_PERIOD;
        }
    }

    /** Whether the application has chosen some. */
    private static boolean hasTriggers(ClusterTopologyRefreshOptions options) {
        return !options.getAdaptiveRefreshTriggers()
                .equals(ClusterTopologyRefreshOptions.DEFAULT_ADAPTIVE_REFRESH_TRIGGERS);
    }

    private static Duration connectTimeout(SocketOptions application) {
        Duration timeout = application.getConnectTimeout();
        return timeout.equals(LIBRARY_CONNECT_TIMEOUT) ? CONNECT_TIMEOUT : timeout;
    }
}
