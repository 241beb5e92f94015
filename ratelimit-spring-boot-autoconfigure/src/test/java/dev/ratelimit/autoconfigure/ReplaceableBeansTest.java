package dev.ratelimit.autoconfigure;

import static org.assertj.core.api.Assertions.assertThat;
import static org.mockito.Mockito.RETURNS_DEEP_STUBS;
import static org.mockito.Mockito.mock;

import dev.ratelimit.DecisionListener;
import dev.ratelimit.data.ChangeListener;
import dev.ratelimit.engine.StoreListener;
import dev.ratelimit.web.LearnedFromRequests;
import io.micrometer.core.instrument.MeterRegistry;
import io.micrometer.core.instrument.simple.SimpleMeterRegistry;
import io.micrometer.observation.ObservationRegistry;
import io.micrometer.observation.ObservationTextPublisher;
import java.lang.reflect.Method;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.stream.Stream;
import org.junit.jupiter.api.Named;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;
import org.springframework.boot.autoconfigure.AutoConfiguration;
import org.springframework.boot.autoconfigure.AutoConfigurations;
import org.springframework.boot.autoconfigure.condition.ConditionalOnMissingBean;
import org.springframework.boot.context.annotation.ImportCandidates;
import org.springframework.boot.test.context.runner.WebApplicationContextRunner;
import org.springframework.context.annotation.Bean;

/** Every bean that we bring along gives way to one of the application. */
class ReplaceableBeansTest {

    /** Beans that do not, and why. */
    private static final Map<String, String> REASONS = Map.of(
            "rateLimitDatabaseChoice", "tells what ratelimit.store and the DataSource say; these are changed",
            "rateLimitPolicyConnections", "belongs to rateLimitPolicies; that is replaced",
            "rateLimitAuditConnections", "belongs to rateLimitAudit and rateLimitRetention; these are replaced",
            "rateLimitCacheUse", "belongs to rateLimitAudit; that is replaced");

    /** Beans that are there instead of others. */
    private static final Set<String> INSTEAD = Set.of(
            "rateLimitConfiguredPolicies",
            "rateLimitAdminOfConfiguration",
            "rateLimitAdminWhileOff",
            "rateLimitApiKeysWhileOff");

    @TempDir
    private static Path directory;

    /** Types of which there may be any number: one more bean replaces none. */
    private static final List<Class<?>> COLLECTED =
            List.of(DecisionListener.class, StoreListener.class, ChangeListener.class, LearnedFromRequests.class);

    private static List<Class<?>> autoConfigurations() throws ClassNotFoundException {
        List<Class<?>> ours = new ArrayList<>();
        for (String name : ImportCandidates.load(AutoConfiguration.class, null)) {
            if (name.startsWith("dev.ratelimit.")) {
                ours.add(Class.forName(name));
            }
        }
        return ours;
    }

    static Stream<Named<Method>> beans() throws ClassNotFoundException {
        return autoConfigurations().stream()
                .flatMap(type -> Stream.concat(Stream.of(type), Arrays.stream(type.getDeclaredClasses())))
                .flatMap(type -> Arrays.stream(type.getDeclaredMethods()))
                .filter(method -> method.isAnnotationPresent(Bean.class))
                .map(method -> Named.of(method.getName(), method));
    }

    @ParameterizedTest
    @MethodSource("beans")
    void beanGivesWayToThatOfTheApplication(Method method) throws ClassNotFoundException {
        ConditionalOnMissingBean condition = method.getAnnotation(ConditionalOnMissingBean.class);
        if (REASONS.containsKey(method.getName())) {
            assertThat(condition).as(REASONS.get(method.getName())).isNull();
            return;
        }
        assertThat(condition).as("@ConditionalOnMissingBean").isNotNull();
        boolean byName = condition.name().length > 0;
        Class<?> type = condition.value().length > 0 ? condition.value()[0] : method.getReturnType();
        if (!byName) {
            assertThat(type.getInterfaces())
                    .as("a bean of what " + type.getSimpleName() + " is would have to replace it, too")
                    .noneMatch(above -> above.getName().startsWith("dev.ratelimit.") && !COLLECTED.contains(above));
        }
        Object own = mock(type, RETURNS_DEEP_STUBS);

        String place = method.getDeclaringClass().getSimpleName();
        boolean stored = place.equals("StoredConfiguration") || place.contains("Audit");
        boolean keys = method.getName().contains("ApiKey");
        application(stored || keys)
                .withPropertyValues("ratelimit.api-keys.enabled=" + keys)
                .withBean(byName ? method.getName() : "own", asSupplied(type), () -> own)
                .run(context -> {
                    assertThat(context).hasNotFailed();
                    if (byName) {
                        assertThat(context.getBean(method.getName())).isSameAs(own);
                    } else {
                        assertThat(context.getBeanNamesForType(type)).containsExactly("own");
                        assertThat(context).doesNotHaveBean(method.getName());
                    }
                });
    }

    @SuppressWarnings("unchecked")
    private static Class<Object> asSupplied(Class<?> type) {
        return (Class<Object>) type;
    }

    /** Otherwise the test above would prove nothing. */
    @Test
    void withoutBeansOfTheApplicationAllOfOursAreThere() throws ClassNotFoundException {
        List<String> names = beans().map(named -> named.getPayload().getName())
                .filter(name -> !REASONS.containsKey(name) && !INSTEAD.contains(name))
                .toList();

        application(true)
                .run(context -> assertThat(names).hasSizeGreaterThan(10).allMatch(context::containsBean));
    }

    private static WebApplicationContextRunner application(boolean stored) throws ClassNotFoundException {
        return new WebApplicationContextRunner()
                .withConfiguration(AutoConfigurations.of(autoConfigurations().toArray(Class<?>[]::new)))
                .withBean(MeterRegistry.class, SimpleMeterRegistry::new)
                .withBean(ObservationRegistry.class, ObservationRegistry::create)
                .withBean(ObservationTextPublisher.class, () -> new ObservationTextPublisher(text -> {}))
                .withPropertyValues(
                        "management.endpoints.web.exposure.include=ratelimit",
                        "ratelimit.store.type=" + (stored ? "sqlite" : "memory"),
                        "ratelimit.store.sqlite.path=" + directory.resolve("ratelimit.db"),
                        "ratelimit.api-keys.enabled=" + stored,
                        "ratelimit.limits.login.algorithm=sliding-log",
                        "ratelimit.limits.login.max-requests=5",
                        "ratelimit.limits.login.window=1m",
                        "ratelimit.login.limit=login");
    }
}
