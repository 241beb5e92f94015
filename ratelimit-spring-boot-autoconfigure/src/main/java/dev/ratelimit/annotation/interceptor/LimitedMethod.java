package dev.ratelimit.annotation.interceptor;

import dev.ratelimit.FailurePolicy;
import dev.ratelimit.annotation.InvalidRateLimitedException;
import dev.ratelimit.annotation.RateLimitExempt;
import dev.ratelimit.annotation.RateLimited;
import dev.ratelimit.policy.SubjectKey;
import dev.ratelimit.web.expression.ExpressionTree;
import dev.ratelimit.web.expression.Expressions;
import java.lang.reflect.Method;
import java.math.BigDecimal;
import java.math.RoundingMode;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Locale;
import java.util.Set;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;
import org.springframework.core.annotation.AnnotatedElementUtils;
import org.springframework.expression.EvaluationContext;
import org.springframework.expression.Expression;
import org.springframework.expression.ParseException;
import org.springframework.util.ReflectionUtils;

/**
 * The limits on one method, with their expressions parsed once.
 *
 * @param ofClass whether they stand on the class and not on the method itself
 */
record LimitedMethod(Method method, boolean ofClass, List<AnnotatedLimit> limits) {

    private static final Set<String> KEYS_LIKE = Set.of(
            "user", "ip", "user+ip", "ip+user", "session", "api-key", "apikey", "header", "header:", "bean", "bean:");

    /**
     * One annotation, as read at startup. It has nine components: its place, its attributes, and what follows from them.
     *
     * @param on the annotated method or class, for messages
     * @param needsStatus whether the call can only be settled once the status of the response is known
     */
    record AnnotatedLimit(
            String on,
            String name,
            @Nullable SubjectKey subjectKey,
            @Nullable Expression key,
            @Nullable Expression cost,
            @Nullable Expression countWhen,
            @Nullable Expression resetWhen,
            boolean needsStatus,
            @Nullable FailurePolicy onFailure) {

        /** Whether the call has to be settled once it is done. */
        boolean isSettled() {
            return countWhen != null || resetWhen != null;
        }

        @Nullable
        Object key(EvaluationContext arguments) {
            return key == null ? null : key.getValue(arguments);
        }

        /** The cost of the call by the expression; {@code null} for the cost of the limit. */
        @Nullable
        Long cost(EvaluationContext arguments) {
            return cost == null ? null : cost(cost, arguments);
        }

        /** A fraction is rounded up, so that it never makes a call free. */
        static @Nullable Long cost(Expression cost, EvaluationContext arguments) {
            Object value = cost.getValue(arguments);
            if (value instanceof Integer || value instanceof Long) {
                return ((Number) value).longValue();
            }
            return value instanceof Number number
                    ? Long.valueOf(new BigDecimal(number.toString())
                            .setScale(0, RoundingMode.CEILING)
                            .min(BigDecimal.valueOf(Long.MAX_VALUE))
                            .max(BigDecimal.valueOf(Long.MIN_VALUE))
                            .longValue())
                    : cost.getValue(arguments, Long.class);
        }

        boolean counts(EvaluationContext outcome) {
            return countWhen == null || !Boolean.FALSE.equals(countWhen.getValue(outcome, Boolean.class));
        }

        boolean resets(EvaluationContext outcome) {
            return resetWhen != null && Boolean.TRUE.equals(resetWhen.getValue(outcome, Boolean.class));
        }
    }

    static LimitedMethod of(Method method, Class<?> type) {
        Set<RateLimited> annotations = AnnotatedElementUtils.findMergedRepeatableAnnotations(method, RateLimited.class);
        boolean ofClass = annotations.isEmpty();
        if (ofClass) {
            annotations = AnnotatedElementUtils.findMergedRepeatableAnnotations(type, RateLimited.class);
        }
        if (!ofClass && isBoth(method)) {
            throw new InvalidRateLimitedException(
                    described(method, type),
                    "annotation",
                    "@RateLimitExempt",
                    "leave out one of them: @RateLimitExempt takes the method out of all limits");
        }
        if (annotations.isEmpty() || isExempt(method, ofClass)) {
            return new LimitedMethod(method, ofClass, List.of());
        }
        String on = ofClass ? type.getTypeName() : described(method, type);
        List<AnnotatedLimit> limits = new ArrayList<>();
        for (RateLimited annotation : annotations) {
            if (annotation.limit().isBlank()) {
                throw new InvalidRateLimitedException(on, "limit", null, "name a limit, as in @RateLimited(\"login\")");
            }
            Expression countWhen = parse(on, "countWhen", annotation.countWhen());
            Expression resetWhen = parse(on, "resetWhen", annotation.resetWhen());
            limits.add(new AnnotatedLimit(
                    on,
                    annotation.limit(),
                    subjectKey(annotation.key()),
                    subjectKey(annotation.key()) != null ? null : parseKey(on, annotation.key()),
                    parse(on, "cost", annotation.cost()),
                    countWhen,
                    resetWhen,
                    readsStatus(countWhen) || readsStatus(resetWhen),
                    annotation.onFailure().length == 0 ? null : annotation.onFailure()[0]));
        }
        return new LimitedMethod(method, ofClass, List.copyOf(limits));
    }

    private static boolean readsStatus(@Nullable Expression expression) {
        return expression != null && new ExpressionTree(expression).variables().contains("#status");
    }

    /** Whether the method has both annotations itself: one that overrides a limited method may be exempt. */
    private static boolean isBoth(Method method) {
        return AnnotatedElementUtils.isAnnotated(method, RateLimitExempt.class)
                && (AnnotatedElementUtils.isAnnotated(method, RateLimited.class)
                        || AnnotatedElementUtils.isAnnotated(method, RateLimited.Several.class));
    }

    /** An annotation on a class does not apply to the methods of every object. */
    private static boolean isExempt(Method method, boolean ofClass) {
        return AnnotatedElementUtils.hasAnnotation(method, RateLimitExempt.class)
                || (ofClass && ReflectionUtils.isObjectMethod(method));
    }

    static String described(Method method, Class<?> type) {
        return Arrays.stream(method.getParameterTypes())
                .map(Class::getSimpleName)
                .collect(Collectors.joining(", ", type.getTypeName() + "." + method.getName() + "(", ")"));
    }

    /** A key as rules have it, such as {@code user} or {@code header:X-Tenant}; {@code null} for an expression. */
    private static @Nullable SubjectKey subjectKey(String written) {
        SubjectKey key = SubjectKey.find(written);
        return key == null || key.kind() == SubjectKey.Kind.EXPRESSION ? null : key;
    }

    /** A key of a rule that is written in another way, such as {@code User} or {@code user + ip}, is no expression. */
    private static @Nullable Expression parseKey(String on, String written) {
        String meant = written.replaceAll("\\s", "").toLowerCase(Locale.ROOT);
        if (KEYS_LIKE.contains(meant) || meant.startsWith("header:")) {
            throw new InvalidRateLimitedException(on, "key", written, SubjectKey.ADVICE);
        }
        return parse(on, "key", written);
    }

    private static @Nullable Expression parse(String on, String attribute, String written) {
        try {
            return written.isBlank() ? null : Expressions.parse(written);
        } catch (ParseException e) {
            throw new InvalidRateLimitedException(on, attribute, written, Expressions.advice(e));
        }
    }
}
