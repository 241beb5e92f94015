package dev.ratelimit.test;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.util.HashMap;
import java.util.Map;
import org.springframework.context.annotation.Condition;
import org.springframework.context.annotation.ConditionContext;
import org.springframework.core.env.ConfigurableEnvironment;
import org.springframework.core.env.Environment;
import org.springframework.core.env.MapPropertySource;
import org.springframework.core.env.MutablePropertySources;
import org.springframework.core.env.StandardEnvironment;
import org.springframework.core.type.AnnotatedTypeMetadata;
import org.springframework.util.ClassUtils;

/**
 * The properties of a test. They override the files of the application. The test overrides them: by its own properties,
 * system properties or the environment.
 */
final class TestProperties {

    static final String IN_A_TEST = "dev.ratelimit.test";

    private static final String SOURCE = "ratelimit-test";
    private static final String FILE = "dev.ratelimit.test.file";
    private static final String REPLACE = "dev.ratelimit.test.replace-store";
    private static final String TYPE = "ratelimit.store.type";
    private static final String PATH = "ratelimit.store.sqlite.path";

    private TestProperties() {}

    static void add(ConfigurableEnvironment environment, boolean replaceStore) {
        Map<String, Object> properties = new HashMap<>();
        properties.put(IN_A_TEST, "true");
        properties.put(REPLACE, replaceStore);
        if (replaceStore && canStorePolicies()) {
            String file = temporaryFile();
            properties.put(FILE, file);
            properties.put(TYPE, "sqlite");
            properties.put(PATH, file);
        } else if (replaceStore) {
            properties.put(TYPE, "memory");
        }
        MutablePropertySources sources = environment.getPropertySources();
        MapPropertySource added = new MapPropertySource(SOURCE, properties);
        String before = StandardEnvironment.SYSTEM_ENVIRONMENT_PROPERTY_SOURCE_NAME;
        if (sources.contains(before)) {
            sources.addAfter(before, added);
        } else {
            sources.addFirst(added);
        }
    }

    /** What they need is optional; without it, nothing but the configuration applies. */
    private static boolean canStorePolicies() {
        return ClassUtils.isPresent("org.sqlite.JDBC", null)
                && ClassUtils.isPresent("org.springframework.data.jdbc.core.JdbcAggregateTemplate", null);
    }

    private static String temporaryFile() {
        try {
            return Files.createTempDirectory("ratelimit-test")
                    .resolve("ratelimit.db")
                    .toString();
        } catch (IOException e) {
            throw new UncheckedIOException("Could not create a temporary folder for the rate limits of a test", e);
        }
    }

    static String file(Environment environment) {
        return environment.getRequiredProperty(FILE);
    }

    /** Holds if counts are in memory: the test has asked for no store of its own. */
    static final class StoreIsReplaced implements Condition {

        @Override
        public boolean matches(ConditionContext context, AnnotatedTypeMetadata metadata) {
            Environment environment = context.getEnvironment();
            return environment.getProperty(REPLACE, Boolean.class, false)
                    && (environment.getProperty(TYPE, "").equalsIgnoreCase("memory") || hasOurFile(environment));
        }
    }

    /** Holds if limits, rules, quotas and API keys are stored in our file. */
    static final class PoliciesAreStored implements Condition {

        @Override
        public boolean matches(ConditionContext context, AnnotatedTypeMetadata metadata) {
            return hasOurFile(context.getEnvironment());
        }
    }

    private static boolean hasOurFile(Environment environment) {
        return environment.containsProperty(FILE)
                && environment.getProperty(TYPE, "").equalsIgnoreCase("sqlite")
                && file(environment).equals(environment.getProperty(PATH, Object.class));
    }
}
