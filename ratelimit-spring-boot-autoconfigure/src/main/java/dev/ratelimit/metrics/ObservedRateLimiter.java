package dev.ratelimit.metrics;

import dev.ratelimit.Charged;
import dev.ratelimit.Decision;
import dev.ratelimit.LimitRequest;
import dev.ratelimit.RateLimiter;
import dev.ratelimit.Reservation;
import io.micrometer.common.KeyValue;
import io.micrometer.observation.Observation;
import io.micrometer.observation.ObservationRegistry;
import java.util.concurrent.CompletionStage;
import java.util.function.Function;
import java.util.function.Supplier;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/**
 * Makes an observation of each decision, {@code ratelimit.decision}, so that traces show it. Its keys are {@code limit} (the
 * names, if there are several) and {@code outcome}; never the subject.
 */
public final class ObservedRateLimiter implements RateLimiter {

    /** The observation of a decision. {@link NoMetersOfDecisions} knows it by its type. */
    static final class DecisionContext extends Observation.Context {}

    private static final String NAME = "ratelimit.decision";
    private static final String LIMIT = "limit";
    private static final String OUTCOME = "outcome";

    private final RateLimiter limiter;
    private final ObservationRegistry registry;

    public ObservedRateLimiter(RateLimiter limiter, ObservationRegistry registry) {
        this.limiter = limiter;
        this.registry = registry;
    }

    private Observation started(LimitRequest request) {
        return Observation.createNotStarted(NAME, DecisionContext::new, registry)
                .contextualName("rate limit decision")
                .lowCardinalityKeyValue(KeyValue.of(LIMIT, names(request)))
                .start();
    }

    private static String names(LimitRequest request) {
        return request.items().size() == 1
                ? request.items().get(0).limitName()
                : request.items().stream().map(LimitRequest.Item::limitName).collect(Collectors.joining(","));
    }

    private static void stop(Observation observation, Decision decision) {
        observation.lowCardinalityKeyValue(
                KeyValue.of(OUTCOME, decision.outcome().keyword()));
        Throwable failure = decision.failure();
        if (failure != null) {
            observation.error(failure);
        }
        observation.stop();
    }

    private <T> T observed(LimitRequest request, Supplier<T> work, Function<T, Decision> decision) {
        if (registry.isNoop() || request.items().isEmpty()) {
            return work.get();
        }
        Observation observation = started(request);
        Observation.Scope scope = observation.openScope();
        try {
            T result = work.get();
            stop(observation, decision.apply(result));
            return result;
        } catch (RuntimeException | Error e) {
            observation.error(e);
            observation.stop();
            throw e;
        } finally {
            scope.close();
        }
    }

    private <T> CompletionStage<T> observedLater(
            LimitRequest request, Supplier<CompletionStage<T>> work, Function<T, Decision> decision) {
        if (registry.isNoop() || request.items().isEmpty()) {
            return work.get();
        }
        Observation observation = started(request);
        return work.get().whenComplete((result, failure) -> {
            if (failure == null) {
                stop(observation, decision.apply(result));
            } else {
                observation.error(failure);
                observation.stop();
            }
        });
    }

    @Override
    public Decision decide(LimitRequest request) {
        return observed(request, () -> limiter.decide(request), decision -> decision);
    }

    @Override
    public CompletionStage<Decision> decideAsync(LimitRequest request) {
        return observedLater(request, () -> limiter.decideAsync(request), decision -> decision);
    }

    @Override
    public Reservation reserve(LimitRequest request) {
        return observed(request, () -> limiter.reserve(request), Reservation::decision);
    }

    @Override
    public CompletionStage<Reservation> reserveAsync(LimitRequest request) {
        return observedLater(request, () -> limiter.reserveAsync(request), Reservation::decision);
    }

    @Override
    public Charged charge(LimitRequest request) {
        return observed(request, () -> limiter.charge(request), Charged::decision);
    }

    @Override
    public CompletionStage<Charged> chargeAsync(LimitRequest request) {
        return observedLater(request, () -> limiter.chargeAsync(request), Charged::decision);
    }

    @Override
    public Decision peek(LimitRequest request) {
        return limiter.peek(request);
    }

    @Override
    public CompletionStage<Decision> peekAsync(LimitRequest request) {
        return limiter.peekAsync(request);
    }

    @Override
    public @Nullable Decision remembered(LimitRequest request) {
        return limiter.remembered(request);
    }

    @Override
    public boolean reset(LimitRequest request) {
        return limiter.reset(request);
    }
}
