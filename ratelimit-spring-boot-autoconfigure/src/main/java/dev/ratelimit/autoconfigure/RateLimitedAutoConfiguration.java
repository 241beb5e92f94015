package dev.ratelimit.autoconfigure;

import dev.ratelimit.Limits;
import dev.ratelimit.RateLimiter;
import dev.ratelimit.annotation.RateLimited;
import dev.ratelimit.annotation.interceptor.RateLimitedCheck;
import dev.ratelimit.annotation.interceptor.RateLimitedInterceptor;
import dev.ratelimit.annotation.interceptor.RateLimitedPointcut;
import dev.ratelimit.autoconfigure.property.RateLimitProperties;
import dev.ratelimit.web.CallContext;
import dev.ratelimit.web.servlet.SubjectResolver;
import java.util.function.Supplier;
import org.aopalliance.intercept.MethodInterceptor;
import org.aopalliance.intercept.MethodInvocation;
import org.jspecify.annotations.Nullable;
import org.springframework.aop.Advisor;
import org.springframework.aop.config.AopConfigUtils;
import org.springframework.aop.support.DefaultPointcutAdvisor;
import org.springframework.beans.factory.BeanFactory;
import org.springframework.beans.factory.ObjectProvider;
import org.springframework.beans.factory.annotation.Qualifier;
import org.springframework.beans.factory.config.BeanDefinition;
import org.springframework.beans.factory.config.ConfigurableListableBeanFactory;
import org.springframework.beans.factory.support.BeanDefinitionRegistry;
import org.springframework.boot.autoconfigure.AutoConfiguration;
import org.springframework.boot.autoconfigure.condition.ConditionalOnMissingBean;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Import;
import org.springframework.context.annotation.ImportBeanDefinitionRegistrar;
import org.springframework.context.annotation.Role;
import org.springframework.core.Ordered;
import org.springframework.core.env.Environment;
import org.springframework.core.type.AnnotationMetadata;
import org.springframework.util.function.SingletonSupplier;

/** Applies {@link RateLimited} to beans, in the web and outside of it. */
@AutoConfiguration(after = RateLimitAutoConfiguration.class)
@Import(RateLimitedAutoConfiguration.ProxyRegistrar.class)
public final class RateLimitedAutoConfiguration {

    /**
     * An infrastructure bean, for which proxies are made without AspectJ. It looks up its dependencies at the first
     * call, since an advisor is made before other beans.
     */
    @Bean
    @Role(BeanDefinition.ROLE_INFRASTRUCTURE)
    @ConditionalOnMissingBean(name = "rateLimitedAdvisor")
    static Advisor rateLimitedAdvisor(
            ObjectProvider<RateLimiter> limiter,
            ObjectProvider<Limits> limits,
            ObjectProvider<CallContext.Source> contexts,
            ObjectProvider<RateLimitProperties> properties,
            Environment environment,
            BeanFactory beans) {
        DefaultPointcutAdvisor advisor = new DefaultPointcutAdvisor(
                pointcut(environment),
                new LazyInterceptor(() -> new RateLimitedInterceptor(
                        limiter.getObject(),
                        limits.getObject(),
                        contexts.getIfAvailable(() -> () -> CallContext.NONE),
                        properties.getObject().onFailure(),
                        beans)));
        // Before a transaction is begun: a call that waits for its limit holds no connection of the application.
        advisor.setOrder(Ordered.LOWEST_PRECEDENCE - 100);
        return advisor;
    }

    @Bean
    @ConditionalOnMissingBean
    static RateLimitedCheck rateLimitedCheck(
            Limits limits,
            ConfigurableListableBeanFactory beans,
            @Qualifier("rateLimitedAdvisor") Advisor advisor,
            Environment environment) {
        return new RateLimitedCheck(limits, beans, advisor, pointcut(environment), SubjectResolver.class);
    }

    private static RateLimitedPointcut pointcut(Environment environment) {
        return new RateLimitedPointcut(ProxyRegistrar.isProxyTargetClass(environment));
    }

    /** An interceptor that is made with the first call. */
    private static final class LazyInterceptor implements MethodInterceptor {

        private final SingletonSupplier<MethodInterceptor> interceptor;

        LazyInterceptor(Supplier<MethodInterceptor> interceptor) {
            this.interceptor = SingletonSupplier.of(interceptor);
        }

        @Override
        public @Nullable Object invoke(MethodInvocation invocation) throws Throwable {
            return interceptor.obtain().invoke(invocation);
        }
    }

    /**
     * Sees to it that there are proxies, as {@code @Transactional} does: {@code spring.aop.auto=false} says that an
     * application has no use for AspectJ, not that its annotations shall have no effect.
     */
    static final class ProxyRegistrar implements ImportBeanDefinitionRegistrar {

        private final Environment environment;

        ProxyRegistrar(Environment environment) {
            this.environment = environment;
        }

        @Override
        public void registerBeanDefinitions(AnnotationMetadata importing, BeanDefinitionRegistry registry) {
            AopConfigUtils.registerAutoProxyCreatorIfNecessary(registry);
            if (isProxyTargetClass(environment)) {
                AopConfigUtils.forceAutoProxyCreatorToUseClassProxying(registry);
            }
        }

        static boolean isProxyTargetClass(Environment environment) {
            return environment.getProperty("spring.aop.proxy-target-class", Boolean.class, true);
        }
    }
}
