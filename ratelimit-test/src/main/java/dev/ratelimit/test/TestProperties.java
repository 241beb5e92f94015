package dev.ratelimit.test;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import org.jspecify.annotations.Nullable;
import org.springframework.context.annotation.Condition;
import org.springframework.context.annotation.ConditionContext;
import org.springframework.core.env.ConfigurableEnvironment;
import org.springframework.core.env.Environment;
import org.springframework.core.env.MutablePropertySources;
import org.springframework.core.env.PropertySource;
import org.springframework.core.env.StandardEnvironment;
import org.springframework.core.type.AnnotatedTypeMetadata;
import org.springframework.util.ClassUtils;

/**
 * The properties of a test: counts in memory; limits, rules, quotas and API keys in a temporary file. They override the
 * files of the application. The test overrides them: by its own properties, system properties or the environment.
 */
final class TestProperties extends PropertySource<Object> {

    static final String IN_A_TEST = "dev.ratelimit.test";

    private static final String FILE = "dev.ratelimit.test.file";
    private static final String REPLACE = "dev.ratelimit.test.replace-store";
    private static final String TYPE = "ratelimit.store.type";
    private static final String PATH = "ratelimit.store.sqlite.path";
    private static final String POLICIES = "ratelimit.policy.store";

    private final Environment environment;
    private final boolean replaceStore;
    private final @Nullable String file;

    private TestProperties(Environment environment, boolean replaceStore) {
        super("ratelimit-test"); // not with the environment as its source: Spring Boot would walk in circles
        this.environment = environment;
        this.replaceStore = replaceStore;
        this.file = replaceStore && canStorePolicies() ? temporaryFile() : null;
    }

    static void add(ConfigurableEnvironment environment, boolean replaceStore) {
        MutablePropertySources sources = environment.getPropertySources();
        TestProperties added = new TestProperties(environment, replaceStore);
        String before = StandardEnvironment.SYSTEM_ENVIRONMENT_PROPERTY_SOURCE_NAME;
        if (sources.contains(before)) {
            sources.addAfter(before, added);
        } else {
            sources.addFirst(added);
        }
    }

    @Override
    public @Nullable Object getProperty(String name) {
        return switch (name) {
            case IN_A_TEST -> "true";
            case REPLACE -> Boolean.toString(replaceStore);
            case FILE, PATH -> file;
            case TYPE -> replaceStore ? "memory" : null;
            // A test with a store of its own has its policies there, too.
            case POLICIES -> file != null && isInMemory(environment) ? "sqlite" : null;
            default -> null;
        };
    }

    /** Both libraries are optional. Without them, nothing but the configuration applies. */
    private static boolean canStorePolicies() {
        return ClassUtils.isPresent("org.sqlite.JDBC", null)
                && ClassUtils.isPresent("org.springframework.jdbc.core.namedparam.NamedParameterJdbcTemplate", null);
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

    private static boolean isInMemory(Environment environment) {
        return environment.getProperty(TYPE, "").equalsIgnoreCase("memory");
    }

    /** Holds if counts are in memory: the test has asked for no store of its own. */
    static final class StoreIsReplaced implements Condition {

        @Override
        public boolean matches(ConditionContext context, AnnotatedTypeMetadata metadata) {
            Environment environment = context.getEnvironment();
            return environment.getProperty(REPLACE, Boolean.class, false) && isInMemory(environment);
        }
    }

    /** Holds if limits, rules, quotas and API keys are stored in our file. */
    static final class PoliciesAreStored implements Condition {

        @Override
        public boolean matches(ConditionContext context, AnnotatedTypeMetadata metadata) {
            Environment environment = context.getEnvironment();
            return environment.containsProperty(FILE)
                    && environment.getProperty(POLICIES, "").equalsIgnoreCase("sqlite")
                    && file(environment).equals(environment.getProperty(PATH, Object.class));
        }
    }
}
