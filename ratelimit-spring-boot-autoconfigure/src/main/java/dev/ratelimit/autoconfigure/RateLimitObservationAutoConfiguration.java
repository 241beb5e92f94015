package dev.ratelimit.autoconfigure;

import dev.ratelimit.engine.StoreRateLimiter;
import dev.ratelimit.metrics.NoMetersOfDecisions;
import dev.ratelimit.metrics.ObservedRateLimiter;
import io.micrometer.core.instrument.observation.MeterObservationHandler;
import io.micrometer.observation.ObservationHandler;
import io.micrometer.observation.ObservationRegistry;
import org.springframework.beans.factory.config.ConfigurableListableBeanFactory;
import org.springframework.boot.autoconfigure.AutoConfiguration;
import org.springframework.boot.autoconfigure.condition.ConditionMessage;
import org.springframework.boot.autoconfigure.condition.ConditionOutcome;
import org.springframework.boot.autoconfigure.condition.ConditionalOnBean;
import org.springframework.boot.autoconfigure.condition.ConditionalOnClass;
import org.springframework.boot.autoconfigure.condition.ConditionalOnMissingBean;
import org.springframework.boot.autoconfigure.condition.SpringBootCondition;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.ConditionContext;
import org.springframework.context.annotation.Conditional;
import org.springframework.context.annotation.ConfigurationCondition;
import org.springframework.context.annotation.Primary;
import org.springframework.core.type.AnnotatedTypeMetadata;

/** Makes observations of decisions where a bean handles them, as with tracing. Handlers of meters are none: meters exist. */
@AutoConfiguration(
        after = RateLimitAutoConfiguration.class,
        afterName = {
            "org.springframework.boot.micrometer.observation.autoconfigure.ObservationAutoConfiguration",
            "org.springframework.boot.micrometer.tracing.autoconfigure.MicrometerTracingAutoConfiguration"
        })
@ConditionalOnClass({ObservationRegistry.class, MeterObservationHandler.class})
@ConditionalOnBean({ObservationRegistry.class, StoreRateLimiter.class})
@Conditional(RateLimitObservationAutoConfiguration.OnHandlerOfObservations.class)
public final class RateLimitObservationAutoConfiguration {

    static final class OnHandlerOfObservations extends SpringBootCondition implements ConfigurationCondition {

        @Override
        public ConfigurationPhase getConfigurationPhase() {
            return ConfigurationPhase.REGISTER_BEAN;
        }

        @Override
        public ConditionOutcome getMatchOutcome(ConditionContext context, AnnotatedTypeMetadata metadata) {
            ConditionMessage.Builder message = ConditionMessage.forCondition("handler of observations");
            ConfigurableListableBeanFactory beans = context.getBeanFactory();
            if (beans != null) {
                for (String name : beans.getBeanNamesForType(ObservationHandler.class, true, false)) {
                    Class<?> type = beans.getType(name, false);
                    if (type != null && !MeterObservationHandler.class.isAssignableFrom(type)) {
                        return ConditionOutcome.match(message.found("bean").items(name));
                    }
                }
            }
            return ConditionOutcome.noMatch(message.because("there is none beside those of meters"));
        }
    }

    @Bean
    @Primary
    @ConditionalOnMissingBean(name = "rateLimitObservedLimiter")
    ObservedRateLimiter rateLimitObservedLimiter(StoreRateLimiter limiter, ObservationRegistry registry) {
        return new ObservedRateLimiter(limiter, registry);
    }

    @Bean
    @ConditionalOnMissingBean
    NoMetersOfDecisions rateLimitNoMetersOfDecisions() {
        return new NoMetersOfDecisions();
    }
}
