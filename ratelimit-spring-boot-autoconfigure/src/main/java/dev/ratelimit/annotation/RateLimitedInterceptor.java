package dev.ratelimit.annotation;

import dev.ratelimit.Decision;
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
import org.springframework.aop.support.AopUtils;
import org.springframework.beans.factory.BeanFactory;
import org.springframework.context.expression.BeanFactoryResolver;
import org.springframework.context.expression.MethodBasedEvaluationContext;
import org.springframework.core.DefaultParameterNameDiscoverer;
import org.springframework.expression.EvaluationContext;
import org.springframework.expression.Expression;

/**
 * Applies {@link RateLimited} to a call.
 *
 * <ol>
 *   <li>The limits without {@code countWhen} and each one with it are reserved; if one denies, the others are taken back
 *       and the call is not made.
 *   <li>The call is made.
 *   <li>Where {@code countWhen} says that it does not count, the charge is taken back: when the method has returned, when
 *       its {@link CompletionStage} is done, or in a web request when the status of the response is known.
 * </ol>
 */
public final class RateLimitedInterceptor implements MethodInterceptor {

    private static final DefaultParameterNameDiscoverer PARAMETER_NAMES = new DefaultParameterNameDiscoverer();

    private static final Subject NOBODY = Subject.of("call", "anyone");

    private final RateLimiter limiter;
    private final CallContext.Source contexts;
    private final BeanFactory beans;
    private final Map<Method, LimitedMethod> methods = new ConcurrentHashMap<>();

    public RateLimitedInterceptor(RateLimiter limiter, CallContext.Source contexts, BeanFactory beans) {
        this.limiter = limiter;
        this.contexts = contexts;
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
        return methods.computeIfAbsent(method, key -> LimitedMethod.of(key, type))
                .limits();
    }

    /** One call of a limited method. */
    private final class Call {

        private record Open(
                Reservation reservation, @Nullable Expression countWhen) {}

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
                if (limit.countWhen() != null) {
                    reserve(request(null, limit, arguments), limit.countWhen());
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
            LimitRequest request = so == null ? LimitRequest.of(subject, limit.name()) : so.and(subject, limit.name());
            if (limit.cost() == null) {
                return request;
            }
            Long cost = limit.cost().getValue(arguments, Long.class);
            return cost == null ? request : request.cost(cost);
        }

        private Subject subject(AnnotatedLimit limit, EvaluationContext arguments) {
            Object value = limit.key() == null ? null : limit.key().getValue(arguments);
            if (value != null && !value.toString().isBlank()) {
                return Subject.of("key", value.toString());
            }
            Subject caller = context.caller();
            return caller == null ? NOBODY : caller;
        }

        private void reserve(LimitRequest request, @Nullable Expression countWhen) {
            Reservation reservation = limiter.reserve(request);
            Decision decision = reservation.decision();
            if (!decision.allowed()) {
                reservations.forEach(open -> open.reservation.refund());
                throw new RateLimitExceededException(decision);
            }
            reservations.add(new Open(reservation, countWhen));
            context.decided(decision);
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
                if (open.countWhen != null) {
                    EvaluationContext outcome = evaluationContext();
                    outcome.setVariable("result", result);
                    outcome.setVariable("exception", exception);
                    settle(open.reservation, open.countWhen, outcome);
                }
            }
        }

        private void settle(Reservation reservation, Expression countWhen, EvaluationContext outcome) {
            boolean later = countWhen.getExpressionString().contains("#status")
                    && context.afterResponse(status -> {
                        outcome.setVariable("status", status);
                        settleNow(reservation, countWhen, outcome);
                    });
            if (!later) {
                settleNow(reservation, countWhen, outcome);
            }
        }

        /** Anything but a clear "no" counts. */
        private void settleNow(Reservation reservation, Expression countWhen, EvaluationContext outcome) {
            if (Boolean.FALSE.equals(countWhen.getValue(outcome, Boolean.class))) {
                reservation.refund();
            } else {
                reservation.commit();
            }
        }

        private EvaluationContext evaluationContext() {
            MethodBasedEvaluationContext evaluation = new MethodBasedEvaluationContext(
                    invocation, invocation.getMethod(), invocation.getArguments(), PARAMETER_NAMES);
            evaluation.setBeanResolver(new BeanFactoryResolver(beans));
            evaluation.setVariable("request", context.request());
            return evaluation;
        }
    }
}
