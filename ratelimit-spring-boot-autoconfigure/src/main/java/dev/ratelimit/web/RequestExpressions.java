package dev.ratelimit.web;

import dev.ratelimit.policy.Action;
import dev.ratelimit.policy.InvalidRuleException;
import dev.ratelimit.policy.Rule;
import jakarta.servlet.http.HttpServletRequest;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.springframework.beans.factory.BeanFactory;
import org.springframework.context.expression.BeanFactoryResolver;
import org.springframework.expression.Expression;
import org.springframework.expression.ParseException;
import org.springframework.expression.spel.standard.SpelExpressionParser;
import org.springframework.expression.spel.support.StandardEvaluationContext;

/**
 * Expressions of the configuration over a request: {@code #request}, {@code #principal}, {@code #client} (the address)
 * and {@code @beans}. What is stored in a database is never taken for an expression.
 */
public final class RequestExpressions {

    private static final Logger log = LoggerFactory.getLogger(RequestExpressions.class);

    private final ClientAddresses addresses;
    private final BeanFactory beans;
    private final SpelExpressionParser parser = new SpelExpressionParser();
    private final Map<String, Expression> parsed = new ConcurrentHashMap<>();

    public RequestExpressions(ClientAddresses addresses, BeanFactory beans) {
        this.addresses = addresses;
        this.beans = beans;
    }

    /** Reads an expression, so that a mistake is found at once. */
    void require(Rule rule, String property, String expression) {
        try {
            parsed.put(expression, parser.parseExpression(expression));
        } catch (ParseException e) {
            throw new InvalidRuleException(
                    rule.name(), property, expression, "write an expression that can be read: " + e.getMessage());
        }
    }

    /**
     * Whether the condition of the rule is true. One that fails is not true for a rule that allows or blocks, and true
     * for one that counts: neither opens a way around the limits, nor shuts everybody out.
     */
    boolean isTrue(Rule rule, HttpServletRequest request) {
        String expression = rule.conditions().expression();
        if (expression == null) {
            return true;
        }
        try {
            return Boolean.TRUE.equals(value(expression, request, Boolean.class));
        } catch (RuntimeException e) {
            boolean counts = rule.action() == Action.THROTTLE || rule.action() == Action.SHADOW;
            log.warn("The condition of rule '{}' failed and is taken for {}: {}", rule.name(), counts, e.getMessage());
            return counts;
        }
    }

    <T> @Nullable T value(String expression, HttpServletRequest request, Class<T> type) {
        StandardEvaluationContext context = new StandardEvaluationContext();
        context.setBeanResolver(new BeanFactoryResolver(beans));
        context.setVariable("request", request);
        context.setVariable("principal", request.getUserPrincipal());
        context.setVariable("client", addresses.clientOf(request));
        return parsed.computeIfAbsent(expression, parser::parseExpression).getValue(context, type);
    }
}
