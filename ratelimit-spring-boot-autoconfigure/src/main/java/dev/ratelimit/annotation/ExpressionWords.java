package dev.ratelimit.annotation;

import dev.ratelimit.annotation.LimitedMethod.AnnotatedLimit;
import java.lang.reflect.Method;
import java.util.ArrayList;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Set;
import org.jspecify.annotations.Nullable;
import org.springframework.core.DefaultParameterNameDiscoverer;
import org.springframework.core.ParameterNameDiscoverer;
import org.springframework.expression.Expression;
import org.springframework.expression.spel.SpelNode;
import org.springframework.expression.spel.ast.Assign;
import org.springframework.expression.spel.ast.BeanReference;
import org.springframework.expression.spel.ast.Literal;
import org.springframework.expression.spel.ast.Operator;
import org.springframework.expression.spel.ast.VariableReference;
import org.springframework.expression.spel.standard.SpelExpression;

/** The variables and beans that the expressions on a method name. */
final class ExpressionWords {

    static final ParameterNameDiscoverer PARAMETER_NAMES = new DefaultParameterNameDiscoverer();

    private static final Set<String> BEFORE = Set.of("#root", "#this", "#request", "#client");

    private static final Set<String> AFTERWARDS = Set.of("#result", "#exception", "#status");

    private ExpressionWords() {}

    /** Whether the value is the same for all calls. */
    static boolean isConstant(Expression expression) {
        return nodes(expression).stream().allMatch(node -> node instanceof Literal || node instanceof Operator);
    }

    /** The names of the beans that an expression asks. */
    static List<String> beans(Expression expression) {
        return nodes(expression).stream()
                .filter(BeanReference.class::isInstance)
                .map(bean -> bean.toStringAST().substring(1).replace("'", ""))
                .toList();
    }

    /** A word that is not known would be null in every call: a key that is mistyped would count by user. */
    static void requireKnown(Method method, AnnotatedLimit limit) {
        Set<String> before = arguments(method);
        requireKnown(limit, "key", limit.key(), before);
        requireKnown(limit, "cost", limit.cost(), before);
        Set<String> afterwards = new LinkedHashSet<>(before);
        afterwards.addAll(AFTERWARDS);
        requireKnown(limit, "countWhen", limit.countWhen(), afterwards);
        requireKnown(limit, "resetWhen", limit.resetWhen(), afterwards);
    }

    private static void requireKnown(
            AnnotatedLimit limit, String attribute, @Nullable Expression expression, Set<String> known) {
        if (expression == null) {
            return;
        }
        List<SpelNode> nodes = nodes(expression);
        if (nodes.stream().anyMatch(Assign.class::isInstance)) {
            return;
        }
        for (SpelNode node : nodes) {
            String word = node.toStringAST();
            if (node instanceof VariableReference && !known.contains(word) && !BEFORE.contains(word)) {
                throw new InvalidRateLimitedException(
                        limit.on(),
                        attribute,
                        expression.getExpressionString(),
                        "write no " + word + ", which nothing is called here; known are #request, #client"
                                + (known.isEmpty() ? "" : ", " + String.join(", ", known)));
            }
        }
    }

    /** The arguments by name, if the class was compiled with names, and by number. */
    private static Set<String> arguments(Method method) {
        Set<String> words = new LinkedHashSet<>();
        @Nullable String @Nullable [] names = PARAMETER_NAMES.getParameterNames(method);
        if (names != null) {
            for (String name : names) {
                words.add("#" + name);
            }
        }
        for (int i = 0; i < method.getParameterCount(); i++) {
            words.add("#a" + i);
            words.add("#p" + i);
        }
        return words;
    }

    static List<SpelNode> nodes(Expression expression) {
        List<SpelNode> nodes = new ArrayList<>();
        if (expression instanceof SpelExpression spel) {
            add(spel.getAST(), nodes);
        }
        return nodes;
    }

    private static void add(SpelNode node, List<SpelNode> nodes) {
        nodes.add(node);
        for (int i = 0; i < node.getChildCount(); i++) {
            add(node.getChild(i), nodes);
        }
    }
}
