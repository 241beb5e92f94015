package dev.ratelimit.web.expression;

import java.security.Principal;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;
import org.springframework.beans.factory.BeanFactory;
import org.springframework.context.expression.BeanFactoryResolver;
import org.springframework.expression.BeanResolver;
import org.springframework.expression.Expression;
import org.springframework.expression.ParseException;
import org.springframework.expression.spel.standard.SpelExpressionParser;
import org.springframework.expression.spel.support.StandardEvaluationContext;

/**
 * Expressions of the configuration and of annotations. They see {@code @beans}, and in a web request {@code #request},
 * {@code #principal} and {@code #client} (the address). Text from a database is never parsed as an expression.
 */
public final class Expressions {

    static final String COMPARE = "write == to compare; a single = assigns";

    private static final Pattern TEXT = Pattern.compile("'[^']*(?:'|$)|\"[^\"]*(?:\"|$)");

    private static final Pattern NO_COMPARISON = Pattern.compile("===|(?<![=!<>])=(?!=)");

    private static final SpelExpressionParser PARSER = new SpelExpressionParser();

    private final Map<String, Expression> parsed = new ConcurrentHashMap<>();
    private final BeanResolver beans;

    public Expressions(BeanFactory beans) {
        this.beans = new BeanFactoryResolver(beans);
    }

    /** Parses an expression; {@link ParseException} if it is malformed. */
    public static Expression parse(String expression) {
        return PARSER.parseExpression(expression);
    }

    /** The advice for a malformed expression. Two assignments in one, or ===, are malformed, too. */
    public static String advice(ParseException malformed) {
        String written = String.valueOf(malformed.getExpressionString());
        return NO_COMPARISON.matcher(TEXT.matcher(written).replaceAll("")).find()
                ? COMPARE
                : "write a valid expression: " + malformed.getMessage();
    }

    /** Evaluates an expression over a web request. */
    public <T> @Nullable T value(
            String expression, Object request, @Nullable Principal principal, String client, Class<T> type) {
        StandardEvaluationContext context = new StandardEvaluationContext();
        showBeans(context);
        context.setVariable("request", request);
        context.setVariable("principal", principal);
        context.setVariable("client", client);
        return parsed.computeIfAbsent(expression, Expressions::parse).getValue(context, type);
    }

    public void showBeans(StandardEvaluationContext context) {
        context.setBeanResolver(beans);
    }
}
