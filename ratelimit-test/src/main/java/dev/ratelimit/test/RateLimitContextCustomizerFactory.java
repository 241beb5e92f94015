package dev.ratelimit.test;

import java.util.List;
import org.springframework.context.ConfigurableApplicationContext;
import org.springframework.test.context.ContextConfigurationAttributes;
import org.springframework.test.context.ContextCustomizer;
import org.springframework.test.context.ContextCustomizerFactory;
import org.springframework.test.context.MergedContextConfiguration;
import org.springframework.test.context.TestContextAnnotationUtils;

/** Adds the properties of this module to every test of Spring. */
final class RateLimitContextCustomizerFactory implements ContextCustomizerFactory {

    @Override
    public ContextCustomizer createContextCustomizer(
            Class<?> testClass, List<ContextConfigurationAttributes> attributes) {
        AutoConfigureRateLimit annotation =
                TestContextAnnotationUtils.findMergedAnnotation(testClass, AutoConfigureRateLimit.class);
        return new Customizer(annotation == null || annotation.replaceStore());
    }

    /** A record, since tests with equal customizers share an application context. */
    private record Customizer(boolean replaceStore) implements ContextCustomizer {

        @Override
        public void customizeContext(ConfigurableApplicationContext context, MergedContextConfiguration merged) {
            TestProperties.add(context.getEnvironment(), replaceStore);
        }
    }
}
