package dev.ratelimit.metrics;

import dev.ratelimit.metrics.ObservedRateLimiter.DecisionContext;
import io.micrometer.core.instrument.observation.MeterObservationHandler;
import io.micrometer.observation.Observation;
import org.springframework.core.Ordered;

/**
 * Keeps observations of decisions out of the meters. The timer {@code ratelimit.decision} is made from the record of each
 * request, which also has decisions that nobody observes; a second timer of the same name would count them twice. Spring Boot
 * asks only the first handler of meters that supports a context.
 */
public final class NoMetersOfDecisions implements MeterObservationHandler<DecisionContext>, Ordered {

    @Override
    public int getOrder() {
        return Ordered.HIGHEST_PRECEDENCE;
    }

    @Override
    public boolean supportsContext(Observation.Context context) {
        return context instanceof DecisionContext;
    }
}
