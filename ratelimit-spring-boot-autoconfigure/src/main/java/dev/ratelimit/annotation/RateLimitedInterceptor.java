package dev.ratelimit.annotation;

import dev.ratelimit.Decision;
import dev.ratelimit.FailurePolicy;
import dev.ratelimit.LimitRequest;
import dev.ratelimit.RateLimitExceededException;
import dev.ratelimit.RateLimiter;
import dev.ratelimit.Reservation;
import dev.ratelimit.Subject;
import dev.ratelimit.annotation.LimitedMethod.AnnotatedLimit;
import java.lang.reflect.Method;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.ConcurrentHashMap;
import org.aopalliance.intercept.MethodInterceptor;
import org.aopalliance.intercept.MethodInvocation;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.springframework.aop.support.AopUtils;
import org.springframework.beans.factory.BeanFactory;
import org.springframework.context.expression.BeanFactoryResolver;
import org.springframework.context.expression.MethodBasedEvaluationContext;
import org.springframework.core.DefaultParameterNameDiscoverer;
import org.springframework.core.MethodClassKey;
import org.springframework.expression.EvaluationContext;

/**
 * Applies {@link RateLimited} to a call.
 *
 * <ol>
 *   <li>The limits that count in any case, and each one that does not, are reserved; if one denies, the others are taken
 *       back and the call is not made.
 *   <li>The call is made.
 *   <li>Where {@code countWhen} says that it does not count, the charge is taken back, and where {@code resetWhen} says so,
 *       all is forgotten: when the method has returned, when its {@link CompletionStage} is done, or in a web request
 *       when the status of the response is known.
 * </ol>
 */
public final class RateLimitedInterceptor implements MethodInterceptor {

    private static final Logger log = LoggerFactory.getLogger(RateLimitedInterceptor.class);

    private static final DefaultParameterNameDiscoverer PARAMETER_NAMES = new DefaultParameterNameDiscoverer();

    private static final Subject NOBODY = Subject.of("call", "anyone");

    private final RateLimiter limiter;
    private final CallContext.Source contexts;
    private final FailurePolicy onFailure;
    private final BeanFactory beans;
    private final Map<MethodClassKey, LimitedMethod> methods = new ConcurrentHashMap<>();

    /**
     * @param onFailure what happens to a call when no decision can be had, unless its annotation says otherwise
     */
    public RateLimitedInterceptor(
            RateLimiter limiter, CallContext.Source contexts, FailurePolicy onFailure, BeanFactory beans) {
        this.limiter = limiter;
        this.contexts = contexts;
        this.onFailure = onFailure;
        this.beans = beans;
    }

    @Override
    public @Nullable Object invoke(MethodInvocation invocation) throws Throwable {
        List<AnnotatedLimit> limits = limitsOf(invocation);
        CallContext context = contexts.current();
        if (limits.isEmpty() || context.isExempt()) {
            return invocation.proceed();
        }
        Call call = new Call(invocation, context);
        call.reserve(limits);
        return call.proceed();
    }

    private List<AnnotatedLimit> limitsOf(MethodInvocation invocation) {
        Object target = invocation.getThis();
        Class<?> type = target == null ? invocation.getMethod().getDeclaringClass() : AopUtils.getTargetClass(target);
        Method method = AopUtils.getMostSpecificMethod(invocation.getMethod(), type);
        return methods.computeIfAbsent(new MethodClassKey(method, type), key -> LimitedMethod.of(method, type))
                .limits();
    }

    /** One call of a limited method. */
    private final class Call {

        /** What was reserved, and the limit that says later whether it counts; {@code null} if it counts anyway. */
        private record Open(
                LimitRequest request,
                Reservation reservation,
                @Nullable AnnotatedLimit settled) {}

        private final MethodInvocation invocation;
        private final CallContext context;
        private final List<Open> reservations = new ArrayList<>();

        private Call(MethodInvocation invocation, CallContext context) {
            this.invocation = invocation;
            this.context = context;
        }

        private void reserve(List<AnnotatedLimit> limits) {
            EvaluationContext arguments = evaluationContext();
            LimitRequest counted = null;
            for (AnnotatedLimit limit : limits) {
                if (limit.isSettled()) {
                    reserve(request(null, limit, arguments), limit);
                } else {
                    counted = request(counted, limit, arguments);
                }
            }
            if (counted != null) {
                reserve(counted, null);
            }
        }

        private LimitRequest request(@Nullable LimitRequest so, AnnotatedLimit limit, EvaluationContext arguments) {
            Subject subject = subject(limit, arguments);
            if (so != null
                    && so.items().stream()
                            .anyMatch(item -> item.subject().equals(subject)
                                    && item.limitName().equals(limit.name()))) {
                return so;
            }
            LimitRequest request = so == null
                    ? LimitRequest.of(subject, limit.name()).onFailure(onFailure)
                    : so.and(subject, limit.name());
            if (limit.onFailure() != null) {
                request = request.onFailure(limit.onFailure());
            }
            if (limit.cost() == null) {
                return request;
            }
            Long cost = limit.cost().getValue(arguments, Long.class);
            return cost == null ? request : request.cost(cost);
        }

        private Subject subject(AnnotatedLimit limit, EvaluationContext arguments) {
            Object value = limit.key() == null ? null : limit.key().getValue(arguments);
            if (value instanceof Subject subject) {
                return subject;
            }
            if (value != null && !value.toString().isBlank()) {
                return Subject.of("key", value.toString());
            }
            Subject caller = context.caller();
            return caller == null ? NOBODY : caller;
        }

        private void reserve(LimitRequest request, @Nullable AnnotatedLimit settled) {
            Reservation reservation = limiter.reserve(request);
            Decision decision = reservation.decision();
            if (!decision.allowed()) {
                reservations.forEach(open -> open.reservation.refund());
                throw new RateLimitExceededException(decision);
            }
            reservations.add(new Open(request, reservation, settled));
            context.decided(decision);
            awaitTurn(decision);
        }

        private static void awaitTurn(Decision decision) {
            try {
                decision.awaitTurn();
            } catch (InterruptedException e) {
                Thread.currentThread().interrupt();
                throw new IllegalStateException("interrupted while a call waited for its turn", e);
            }
        }

        private @Nullable Object proceed() throws Throwable {
            Object result;
            try {
                result = invocation.proceed();
            } catch (Throwable e) {
                done(null, e);
                throw e;
            }
            if (result instanceof CompletionStage<?> stage) {
                return stage.whenComplete(this::done);
            }
            done(result, null);
            return result;
        }

        private void done(@Nullable Object result, @Nullable Throwable exception) {
            for (Open open : reservations) {
                if (open.settled != null) {
                    EvaluationContext outcome = evaluationContext();
                    outcome.setVariable("result", result);
                    outcome.setVariable("exception", exception);
                    settle(open, open.settled, outcome);
                }
            }
        }

        private void settle(Open open, AnnotatedLimit limit, EvaluationContext outcome) {
            if (limit.needsStatus() && context == CallContext.NONE) {
                open.reservation.commit(); // there is no status that could say that it does not count
                return;
            }
            boolean later = limit.needsStatus()
                    && context.afterResponse(status -> {
                        outcome.setVariable("status", status);
                        settleNow(open, limit, outcome);
                    });
            if (!later) {
                settleNow(open, limit, outcome);
            }
        }

        /** Anything but a clear "no" counts, and a mistake in an expression does not harm the call. */
        private void settleNow(Open open, AnnotatedLimit limit, EvaluationContext outcome) {
            try {
                if (limit.resets(outcome)) {
                    limiter.reset(open.request);
                } else if (limit.counts(outcome)) {
                    open.reservation.commit();
                } else {
                    open.reservation.refund();
                }
            } catch (RuntimeException e) {
                log.warn(
                        "A call of {} counts, since it cannot be told otherwise: {}",
                        invocation.getMethod(),
                        e.getMessage());
            }
        }

        private EvaluationContext evaluationContext() {
            MethodBasedEvaluationContext evaluation = new MethodBasedEvaluationContext(
                    invocation, invocation.getMethod(), invocation.getArguments(), PARAMETER_NAMES);
            evaluation.setBeanResolver(new BeanFactoryResolver(beans));
            evaluation.setVariable("request", context.request());
            evaluation.setVariable("client", context.client());
            return evaluation;
        }
    }
}
