package dev.ratelimit.annotation.interceptor;

import java.lang.reflect.Method;
import java.util.Arrays;
import java.util.HashMap;
import java.util.Map;
import org.aopalliance.intercept.MethodInvocation;
import org.jspecify.annotations.Nullable;
import org.springframework.context.expression.MethodBasedEvaluationContext;

/**
 * The variables of expressions on a method: the outcome of the call, else its arguments, else the request that it is part of. So an
 * argument hides a variable of the request: with {@code call(Order request)}, {@code #request} is the order.
 */
final class CallVariables extends MethodBasedEvaluationContext {

    private final @Nullable String @Nullable [] arguments;
    private final Map<String, @Nullable Object> ofRequest;
    private final Map<String, @Nullable Object> outcome = new HashMap<>();

    /**
     * @param ofRequest the variables of the request, without their {@code #}
     */
    CallVariables(MethodInvocation invocation, Method method, Map<String, @Nullable Object> ofRequest) {
        super(invocation, method, invocation.getArguments(), ExpressionWords.PARAMETER_NAMES);
        this.arguments = ExpressionWords.PARAMETER_NAMES.getParameterNames(method);
        this.ofRequest = ofRequest;
    }

    void setOutcome(String name, @Nullable Object value) {
        outcome.put(name, value);
    }

    @Override
    public @Nullable Object lookupVariable(String name) {
        if (outcome.containsKey(name)) {
            return outcome.get(name);
        }
        boolean isArgument = arguments != null && Arrays.asList(arguments).contains(name);
        return ofRequest.containsKey(name) && !isArgument ? ofRequest.get(name) : super.lookupVariable(name);
    }
}
