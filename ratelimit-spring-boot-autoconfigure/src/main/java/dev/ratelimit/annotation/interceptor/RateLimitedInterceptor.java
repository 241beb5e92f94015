package dev.ratelimit.annotation.interceptor;

import dev.ratelimit.Decision;
import dev.ratelimit.FailurePolicy;
import dev.ratelimit.LimitRequest;
import dev.ratelimit.Limits;
import dev.ratelimit.RateLimitExceededException;
import dev.ratelimit.RateLimiter;
import dev.ratelimit.Reservation;
import dev.ratelimit.Subject;
import dev.ratelimit.annotation.RateLimited;
import dev.ratelimit.annotation.interceptor.LimitedMethod.AnnotatedLimit;
import dev.ratelimit.policy.SubjectKey;
import dev.ratelimit.support.LogText;
import dev.ratelimit.support.OncePerMinute;
import dev.ratelimit.support.Turn;
import dev.ratelimit.web.CallContext;
import dev.ratelimit.web.LostLimits;
import dev.ratelimit.web.expression.Expressions;
import java.lang.reflect.Method;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.Callable;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.ConcurrentHashMap;
import org.aopalliance.intercept.MethodInterceptor;
import org.aopalliance.intercept.MethodInvocation;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.springframework.aop.support.AopUtils;
import org.springframework.beans.factory.BeanFactory;
import org.springframework.core.MethodClassKey;
import org.springframework.expression.EvaluationContext;

/**
 * Applies {@link RateLimited} to a call.
 *
 * <ol>
 *   <li>The limits that count in any case, and each one that does not, are reserved; if one denies, the others are taken
 *       back and the call is not made.
 *   <li>The call is made.
 *   <li>If {@code countWhen} is false, the charge is refunded. If {@code resetWhen} is true, the limit is reset. Both are
 *       evaluated when the method has returned, when its {@link CompletionStage} or {@link Callable} is done, or, if they
 *       use the status, when the response is complete.
 * </ol>
 */
public final class RateLimitedInterceptor implements MethodInterceptor {

    private static final Logger log = LoggerFactory.getLogger(RateLimitedInterceptor.class);

    private static final Subject NOBODY = Subject.of("call", "anyone");

    private static final SubjectKey ADDRESS = new SubjectKey(SubjectKey.Kind.IP, "");

    private final RateLimiter limiter;
    private final Limits limits;
    private final LostLimits lost;
    private final CallContext.Source contexts;
    private final FailurePolicy onFailure;
    private final Expressions expressions;
    private final OncePerMinute failures = new OncePerMinute();
    private final Map<MethodClassKey, LimitedMethod> methods = new ConcurrentHashMap<>();

    /**
     * @param onFailure the failure policy of annotations that do not set one
     */
    public RateLimitedInterceptor(
            RateLimiter limiter,
            Limits limits,
            CallContext.Source contexts,
            FailurePolicy onFailure,
            BeanFactory beans) {
        this.limiter = limiter;
        this.limits = limits;
        this.lost = new LostLimits(limits);
        this.contexts = contexts;
        this.onFailure = onFailure;
        this.expressions = new Expressions(beans);
    }

    @Override
    public @Nullable Object invoke(MethodInvocation invocation) throws Throwable {
        LimitedMethod method = methodOf(invocation);
        CallContext context = contexts.current();
        if (method.limits().isEmpty() || context.isExempt()) {
            return invocation.proceed();
        }
        Call call = new Call(invocation, method, context);
        call.reserve();
        return call.proceed();
    }

    private LimitedMethod methodOf(MethodInvocation invocation) {
        Object target = invocation.getThis();
        Class<?> type = target == null ? invocation.getMethod().getDeclaringClass() : AopUtils.getTargetClass(target);
        Method method = AopUtils.getMostSpecificMethod(invocation.getMethod(), type);
        return methods.computeIfAbsent(new MethodClassKey(method, type), key -> LimitedMethod.of(method, type));
    }

    /** One call of a limited method. */
    private final class Call {

        /** A reservation, and the limit that decides later whether it counts. */
        private record Open(LimitRequest request, Reservation reservation, AnnotatedLimit settled) {}

        private final MethodInvocation invocation;
        private final LimitedMethod method;
        private final CallContext context;
        private final Map<String, @Nullable Object> ofRequest = new HashMap<>();
        private final @Nullable String tier;
        private final List<Open> reservations = new ArrayList<>();

        /** How long the call has to wait for its turn: the longest that any of its limits says. */
        private Duration delay = Duration.ZERO;

        /** Reads everything from the request now: when the call is done, the request may be gone. */
        private Call(MethodInvocation invocation, LimitedMethod method, CallContext context) {
            this.invocation = invocation;
            this.method = method;
            this.context = context;
            ofRequest.put("request", context.request());
            ofRequest.put("principal", context.principal());
            ofRequest.put("client", context.client());
            this.tier = context.tier();
        }

        /** A call that is not made leaves no reservation behind. */
        private void reserve() {
            try {
                reserveAll();
                Turn.await(delay);
            } catch (RuntimeException | Error e) {
                reservations.forEach(this::giveBack);
                throw e;
            }
        }

        private void giveBack(Open open) {
            if (open.reservation.giveBack()) {
                context.givenBack(open.request);
            }
        }

        private void reserveAll() {
            EvaluationContext arguments = variables();
            LimitRequest counted = null;
            for (AnnotatedLimit limit : method.limits()) {
                if (passesWithout(limit)) {
                    continue;
                }
                Long cost = cost(limit, arguments);
                if (cost != null && cost == 0) {
                    continue;
                }
                if (limit.isSettled()) {
                    reserve(request(null, limit, cost, arguments), limit);
                } else {
                    counted = request(counted, limit, cost, arguments);
                }
            }
            if (counted != null) {
                reserve(counted, null);
            }
        }

        /** Whether the limit no longer exists, and the failure policy lets the call pass. */
        private boolean passesWithout(AnnotatedLimit limit) {
            if (!lost.isLost(limit.name())) {
                return false;
            }
            Decision decision = lost.decide(limit.name(), "@RateLimited on " + limit.on(), policy(limit));
            context.decided(LimitRequest.NONE, decision, Duration.ZERO);
            if (!decision.allowed()) {
                throw new RateLimitExceededException(decision);
            }
            return true;
        }

        private FailurePolicy policy(AnnotatedLimit limit) {
            return limit.onFailure() == null ? onFailure : limit.onFailure();
        }

        /**
         * The cost by the expression; {@code null} for that of the limit. A mistake never makes a call free: if there is no
         * valid cost, the call has that of the limit, and one that is too high takes all that the limit can grant.
         */
        private @Nullable Long cost(AnnotatedLimit limit, EvaluationContext arguments) {
            Long cost;
            try {
                cost = limit.cost(arguments);
            } catch (RuntimeException e) {
                warn(limit, "cost", "failed; charging the usual cost of the limit", e.getMessage());
                return null;
            }
            if (cost == null) {
                return null;
            }
            if (cost < 0) {
                warn(limit, "cost", "is below 0; charging the usual cost of the limit", cost);
                return null;
            }
            long most = limits.get(limit.name(), tier).capacity();
            if (cost > most) {
                warn(limit, "cost", "is more than limit '" + limit.name() + "' can grant; charging " + most, cost);
                return most;
            }
            return cost;
        }

        private LimitRequest request(
                @Nullable LimitRequest so, AnnotatedLimit limit, @Nullable Long cost, EvaluationContext arguments) {
            Subject subject = subject(limit, arguments);
            FailurePolicy policy = policy(limit);
            FailurePolicy before = so == null ? null : so.onFailure();
            if (before != null) {
                policy = policy.and(before);
            }
            if (so != null && so.asks(subject, limit.name())) {
                return so.onFailure(policy);
            }
            LimitRequest all = (so == null ? LimitRequest.NONE.tier(tier) : so).and(subject, limit.name());
            return (cost == null ? all : all.cost(cost)).onFailure(policy);
        }

        private Subject subject(AnnotatedLimit limit, EvaluationContext arguments) {
            SubjectKey key = limit.subjectKey();
            if (key != null) {
                Subject found = context.subject(limit.on(), key);
                return found == null ? NOBODY : found;
            }
            if (limit.key() == null) {
                Subject caller = context.caller();
                return caller == null ? NOBODY : caller;
            }
            try {
                Object value = limit.key(arguments);
                if (value instanceof Subject subject) {
                    return subject;
                }
                if (value != null && !value.toString().isBlank()) {
                    return Subject.of("key", value.toString());
                }
            } catch (RuntimeException e) {
                warn(limit, "key", "failed; counting the call by the address of the client", e.getMessage());
            }
            // As in rules. Not by the user, as if there were no key: users are easier to come by than addresses.
            Subject address = context.subject(limit.on(), ADDRESS);
            return address == null ? NOBODY : address;
        }

        /** Only a limit whose cost is known later is reserved: the others are charged for good. */
        private void reserve(LimitRequest asked, @Nullable AnnotatedLimit settled) {
            LimitRequest request = context.isRecorded() ? asked.recordedByCaller() : asked;
            long start = System.nanoTime();
            Reservation reservation = settled == null ? null : limiter.reserve(request);
            Decision decision = reservation == null ? limiter.decide(request) : reservation.decision();
            Duration took = Duration.ofNanos(System.nanoTime() - start);
            if (reservation != null && settled != null && decision.allowed()) {
                reservations.add(new Open(request, reservation, settled));
            }
            context.decided(request, decision, took);
            if (!decision.allowed()) {
                throw new RateLimitExceededException(decision);
            }
            delay = decision.delay().compareTo(delay) > 0 ? decision.delay() : delay;
        }

        private @Nullable Object proceed() throws Throwable {
            Object result;
            try {
                result = invocation.proceed();
            } catch (Throwable e) {
                done(null, e);
                throw e;
            }
            if (reservations.isEmpty()) {
                return result;
            }
            if (result instanceof CompletionStage<?> stage) {
                // The method's own stage is returned, not the one that follows it: it may have a type of its own, and
                // cancelling it must reach the work.
                CompletionStage<?> unused = stage.whenComplete(this::done);
                return result;
            }
            if (result instanceof Callable<?> later && method.method().getReturnType() == Callable.class) {
                return settling(later);
            }
            done(result, null);
            return result;
        }

        private Callable<@Nullable Object> settling(Callable<?> later) {
            return () -> {
                Object result;
                try {
                    result = later.call();
                } catch (Throwable e) {
                    done(null, e);
                    throw e;
                }
                done(result, null);
                return result;
            };
        }

        private void done(@Nullable Object result, @Nullable Throwable exception) {
            for (Open open : reservations) {
                CallVariables outcome = variables();
                outcome.setOutcome("result", result);
                outcome.setOutcome("exception", exception);
                settle(open, open.settled, outcome);
            }
        }

        private void settle(Open open, AnnotatedLimit limit, CallVariables outcome) {
            if (!limit.needsStatus()) {
                settleNow(open, limit, outcome);
                return;
            }
            boolean later = context.afterResponse(status -> {
                outcome.setOutcome("status", status);
                settleNow(open, limit, outcome);
            });
            if (!later) {
                open.reservation.commit(); // there is no status that could say that it does not count
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
                warn(limit, "countWhen or resetWhen", "failed; counting the call", e.getMessage());
            }
        }

        private void warn(AnnotatedLimit limit, String attribute, String consequence, @Nullable Object why) {
            if (failures.mayTell(limit.on() + " " + limit.name() + " " + attribute)) {
                log.warn(
                        "@RateLimited on {}: {} {} (logged once a minute at most): {}",
                        limit.on(),
                        attribute,
                        consequence,
                        LogText.of(why));
            }
        }

        private CallVariables variables() {
            CallVariables variables = new CallVariables(invocation, method.method(), ofRequest);
            expressions.showBeans(variables);
            return variables;
        }
    }
}
