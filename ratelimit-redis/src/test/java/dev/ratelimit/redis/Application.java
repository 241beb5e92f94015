package dev.ratelimit.redis;

import java.nio.file.Path;
import org.springframework.boot.autoconfigure.AutoConfiguration;
import org.springframework.boot.autoconfigure.AutoConfigurations;
import org.springframework.boot.autoconfigure.ssl.SslAutoConfiguration;
import org.springframework.boot.context.annotation.ImportCandidates;
import org.springframework.boot.data.redis.autoconfigure.DataRedisAutoConfiguration;
import org.springframework.boot.test.context.runner.WebApplicationContextRunner;

/** An application with this module, Spring Data Redis and a limit {@code calls} of ten. */
final class Application {

    private Application() {}

    static WebApplicationContextRunner with(Path folder, String... properties) {
        return withoutSpringDataRedis(folder, properties)
                .withConfiguration(AutoConfigurations.of(DataRedisAutoConfiguration.class, SslAutoConfiguration.class));
    }

    static WebApplicationContextRunner withoutSpringDataRedis(Path folder, String... properties) {
        return new WebApplicationContextRunner()
                .withConfiguration(AutoConfigurations.of(ours()))
                .withPropertyValues(
                        "ratelimit.store.sqlite.path=" + folder.resolve("ratelimit.db"),
                        "ratelimit.store.deadline=5s",
                        "ratelimit.limits.calls.algorithm=fixed-window",
                        "ratelimit.limits.calls.max-requests=10",
                        "ratelimit.limits.calls.window=1h",
                        "ratelimit.rules.calls.path=/api/**",
                        "ratelimit.rules.calls.key=user",
                        "ratelimit.rules.calls.limits=calls")
                .withPropertyValues(properties);
    }

    private static Class<?>[] ours() {
        return ImportCandidates.load(AutoConfiguration.class, null).getCandidates().stream()
                .filter(name -> name.startsWith("dev.ratelimit.") && !name.startsWith("dev.ratelimit.test."))
                .map(Application::named)
                .toArray(Class<?>[]::new);
    }

    private static Class<?> named(String name) {
        try {
            return Class.forName(name);
        } catch (ClassNotFoundException e) {
            throw new IllegalStateException(e);
        }
    }
}
