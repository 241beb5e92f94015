package dev.ratelimit.annotation;

import dev.ratelimit.FailurePolicy;
import java.lang.reflect.Method;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import org.jspecify.annotations.Nullable;
import org.springframework.core.annotation.AnnotatedElementUtils;
import org.springframework.expression.EvaluationContext;
import org.springframework.expression.Expression;
import org.springframework.expression.ParseException;
import org.springframework.expression.spel.standard.SpelExpressionParser;

/** The limits on one method, with their expressions parsed once. */
record LimitedMethod(List<AnnotatedLimit> limits) {

    /** One annotation. */
    record AnnotatedLimit(
            String name,
            @Nullable Expression key,
            @Nullable Expression cost,
            @Nullable Expression countWhen,
            @Nullable Expression resetWhen,
            @Nullable FailurePolicy onFailure) {

        /** Whether it is known only after the call what it counts. */
        boolean isSettled() {
            return countWhen != null || resetWhen != null;
        }

        boolean needsStatus() {
            return mentionsStatus(countWhen) || mentionsStatus(resetWhen);
        }

        private static boolean mentionsStatus(@Nullable Expression expression) {
            return expression != null && expression.getExpressionString().contains("#status");
        }

        boolean counts(EvaluationContext outcome) {
            return countWhen == null || !Boolean.FALSE.equals(countWhen.getValue(outcome, Boolean.class));
        }

        boolean resets(EvaluationContext outcome) {
            return resetWhen != null && Boolean.TRUE.equals(resetWhen.getValue(outcome, Boolean.class));
        }
    }

    private static final SpelExpressionParser EXPRESSIONS = new SpelExpressionParser();

    static LimitedMethod of(Method method, Class<?> type) {
        if (AnnotatedElementUtils.hasAnnotation(method, RateLimitExempt.class)) {
            return new LimitedMethod(List.of());
        }
        Set<RateLimited> annotations = AnnotatedElementUtils.findMergedRepeatableAnnotations(method, RateLimited.class);
        if (annotations.isEmpty()) {
            annotations = AnnotatedElementUtils.findMergedRepeatableAnnotations(type, RateLimited.class);
        }
        List<AnnotatedLimit> limits = new ArrayList<>();
        for (RateLimited annotation : annotations) {
            if (annotation.limit().isBlank()) {
                throw new IllegalStateException(
                        "@RateLimited on " + method + " names no limit; write @RateLimited(\"login\")");
            }
            limits.add(new AnnotatedLimit(
                    annotation.limit(),
                    parse(method, "key", annotation.key()),
                    parse(method, "cost", annotation.cost()),
                    parse(method, "countWhen", annotation.countWhen()),
                    parse(method, "resetWhen", annotation.resetWhen()),
                    annotation.onFailure().length == 0 ? null : annotation.onFailure()[0]));
        }
        return new LimitedMethod(List.copyOf(limits));
    }

    private static @Nullable Expression parse(Method method, String attribute, String written) {
        try {
            return written.isBlank() ? null : EXPRESSIONS.parseExpression(written);
        } catch (ParseException e) {
            throw new IllegalStateException(
                    "@RateLimited on " + method + ": " + attribute + " is '" + written + "', which cannot be read: "
                            + e.getMessage(),
                    e);
        }
    }
}
