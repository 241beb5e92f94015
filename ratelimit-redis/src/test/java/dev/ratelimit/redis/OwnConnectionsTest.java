package dev.ratelimit.redis;

import static org.assertj.core.api.Assertions.assertThat;

import io.lettuce.core.ClientOptions;
import io.lettuce.core.ClientOptions.DisconnectedBehavior;
import io.lettuce.core.ReadFrom;
import io.lettuce.core.SocketOptions;
import io.lettuce.core.SslOptions;
import io.lettuce.core.SslVerifyMode;
import io.lettuce.core.TimeoutOptions;
import io.lettuce.core.cluster.ClusterClientOptions;
import io.lettuce.core.cluster.ClusterTopologyRefreshOptions;
import io.lettuce.core.cluster.ClusterTopologyRefreshOptions.RefreshTrigger;
import io.lettuce.core.internal.TimeoutProvider;
import io.lettuce.core.protocol.Command;
import io.lettuce.core.protocol.CommandType;
import java.lang.reflect.Method;
import java.time.Duration;
import org.junit.jupiter.api.Test;
import org.springframework.data.redis.connection.lettuce.LettuceClientConfiguration;
import org.springframework.util.ReflectionUtils;

/** The settings that our own connections take from those of the application, and those that they do not. */
class OwnConnectionsTest {

    private static final Duration DEADLINE = Duration.ofMillis(100);

    private static LettuceClientConfiguration like(LettuceClientConfiguration application) {
        return OwnConnections.client(application, DEADLINE);
    }

    private static ClusterClientOptions options(LettuceClientConfiguration application) {
        return (ClusterClientOptions) like(application).getClientOptions().orElseThrow();
    }

    private static LettuceClientConfiguration with(ClientOptions options) {
        return LettuceClientConfiguration.builder().clientOptions(options).build();
    }

    @Test
    void commandsAreNeitherQueuedNorResentAndEndAtTheDeadline() {
        ClusterClientOptions options = options(with(ClientOptions.create()));

        assertThat(options.isAutoReconnect()).isTrue();
        assertThat(options.getDisconnectedBehavior()).isEqualTo(DisconnectedBehavior.REJECT_COMMANDS);
        Command<String, String, String> command = new Command<>(CommandType.WAIT, null);
        assertThat(options.getReplayFilter().test(command))
                .as("left out when a connection is back")
                .isTrue();
        assertThat(options.getTimeoutOptions().isTimeoutCommands()).isTrue();
        assertThat(options.getTimeoutOptions()
                        .getSource()
                        .getTimeUnit()
                        .toMillis(options.getTimeoutOptions().getSource().getTimeout(command)))
                .isEqualTo(100);
    }

    /** The store waits for it until its own deadline, and a synchronous call until that of the connection. */
    @Test
    void swapHasNoTimerOfItsOwn() {
        TimeoutOptions options = options(with(ClientOptions.create())).getTimeoutOptions();
        Command<String, String, String> swap = new Command<>(CommandType.EVALSHA, null);

        assertThat(options.getSource().getTimeout(swap)).isNegative();
        assertThat(new TimeoutProvider(() -> options, () -> 2_000_000_000).getTimeoutNs(swap))
                .isEqualTo(2_000_000_000);
    }

    @Test
    void timeoutsOfTheApplicationDoNotApply() {
        LettuceClientConfiguration slow = LettuceClientConfiguration.builder()
                .commandTimeout(Duration.ofMinutes(1))
                .readFrom(ReadFrom.REPLICA)
                .build();

        assertThat(like(slow).getCommandTimeout()).isEqualTo(Duration.ofSeconds(2));
        assertThat(like(slow).getReadFrom()).as("replicas are never read").isEmpty();
        assertThat(options(slow).getSocketOptions().getConnectTimeout()).isEqualTo(Duration.ofSeconds(2));
    }

    @Test
    void connectTimeoutIsThatOfTheApplicationIfItSetsOne() {
        SocketOptions five =
                SocketOptions.builder().connectTimeout(Duration.ofSeconds(5)).build();

        assertThat(options(with(ClientOptions.builder().socketOptions(five).build()))
                        .getSocketOptions()
                        .getConnectTimeout())
                .isEqualTo(Duration.ofSeconds(5));
    }

    @Test
    void tlsIsThatOfTheApplication() {
        SslOptions ssl = SslOptions.builder().protocols("TLSv1.3").build();
        LettuceClientConfiguration secure = LettuceClientConfiguration.builder()
                .clientOptions(ClientOptions.builder().sslOptions(ssl).build())
                .clientName("shop")
                .useSsl()
                .verifyPeer(SslVerifyMode.CA)
                .startTls()
                .build();

        LettuceClientConfiguration ours = like(secure);

        assertThat(ours.isUseSsl()).isTrue();
        assertThat(ours.isStartTls()).isTrue();
        assertThat(ours.getVerifyMode()).isEqualTo(SslVerifyMode.CA);
        assertThat(ours.getClientName()).contains("shop");
        assertThat(options(secure).getSslOptions()).isSameAs(ssl);
        assertThat(like(with(ClientOptions.create())).isUseSsl()).isFalse();
    }

    @Test
    void topologyIsRefreshedUnlessTheApplicationSaysHow() {
        ClusterTopologyRefreshOptions ours =
                options(with(ClientOptions.create())).getTopologyRefreshOptions();
        assertThat(ours.isPeriodicRefreshEnabled()).isTrue();
        assertThat(ours.getRefreshPeriod()).isEqualTo(Duration.ofSeconds(30));
        assertThat(ours.getAdaptiveRefreshTriggers())
                .containsExactlyInAnyOrder(ClusterTopologyRefreshOptions.RefreshTrigger.values());

        // As Spring Boot makes it without spring.data.redis.lettuce.cluster.refresh.period.
        ClusterTopologyRefreshOptions fixedSources = ClusterTopologyRefreshOptions.builder()
                .dynamicRefreshSources(false)
                .build();
        ClusterTopologyRefreshOptions added = options(with(ClusterClientOptions.builder()
                        .topologyRefreshOptions(fixedSources)
                        .build()))
                .getTopologyRefreshOptions();
        assertThat(added.isPeriodicRefreshEnabled()).isTrue();
        assertThat(added.useDynamicRefreshSources()).isFalse();

        ClusterTopologyRefreshOptions onlyTriggers = withoutTriggers()
                .enableAdaptiveRefreshTrigger(RefreshTrigger.UNKNOWN_NODE)
                .adaptiveRefreshTriggersTimeout(Duration.ofSeconds(11))
                .build();
        ClusterTopologyRefreshOptions withPeriod = options(with(ClusterClientOptions.builder()
                        .topologyRefreshOptions(onlyTriggers)
                        .build()))
                .getTopologyRefreshOptions();
        assertThat(withPeriod.isPeriodicRefreshEnabled())
                .as("no trigger notices a silent server")
                .isTrue();
        assertThat(withPeriod.getRefreshPeriod()).isEqualTo(Duration.ofSeconds(30));
        assertThat(withPeriod.getAdaptiveRefreshTriggers()).containsExactly(RefreshTrigger.UNKNOWN_NODE);
        assertThat(withPeriod.getAdaptiveRefreshTimeout()).isEqualTo(Duration.ofSeconds(11));

        ClusterTopologyRefreshOptions own = ClusterTopologyRefreshOptions.builder()
                .enablePeriodicRefresh(Duration.ofMinutes(7))
                .build();
        assertThat(options(with(ClusterClientOptions.builder()
                        .topologyRefreshOptions(own)
                        .maxRedirects(9)
                        .build())))
                .satisfies(options -> {
                    assertThat(options.getTopologyRefreshOptions()).isSameAs(own);
                    assertThat(options.getMaxRedirects()).isEqualTo(9);
                });
    }

    /** Lettuce 6 begins without triggers. Lettuce 7 begins with all of them, and has a method for that. */
    private static ClusterTopologyRefreshOptions.Builder withoutTriggers() {
        ClusterTopologyRefreshOptions.Builder builder = ClusterTopologyRefreshOptions.builder();
        Method method = ReflectionUtils.findMethod(builder.getClass(), "disableAllAdaptiveRefreshTriggers");
        if (method != null) {
            ReflectionUtils.invokeMethod(method, builder);
        }
        return builder;
    }
}
