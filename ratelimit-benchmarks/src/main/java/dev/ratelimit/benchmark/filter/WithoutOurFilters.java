package dev.ratelimit.benchmark.filter;

import org.springframework.beans.factory.SmartInitializingSingleton;
import org.springframework.beans.factory.config.BeanPostProcessor;
import org.springframework.boot.web.servlet.FilterRegistrationBean;

/** Disables the filters of this project. The sample itself needs a limiter, so it cannot be switched off as a whole. */
final class WithoutOurFilters implements BeanPostProcessor, SmartInitializingSingleton {

    private static final String OURS = "dev.ratelimit.web.";

    private int disabled;

    @Override
    public Object postProcessBeforeInitialization(Object bean, String name) {
        if (bean instanceof FilterRegistrationBean<?> registration
                && registration.getFilter().getClass().getName().startsWith(OURS)) {
            registration.setEnabled(false);
            disabled++;
        }
        return bean;
    }

    /** A filter that has moved elsewhere would be measured together with that of Bucket4j. */
    @Override
    public void afterSingletonsInstantiated() {
        if (disabled == 0) {
            throw new IllegalStateException("no filter was found in " + OURS);
        }
    }
}
