package dev.ratelimit.annotation;

import dev.ratelimit.annotation.LimitedMethod.AnnotatedLimit;
import java.lang.reflect.Method;
import java.lang.reflect.Modifier;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.jspecify.annotations.Nullable;
import org.springframework.core.DefaultParameterNameDiscoverer;
import org.springframework.core.ParameterNameDiscoverer;
import org.springframework.expression.Expression;
import org.springframework.expression.spel.SpelNode;
import org.springframework.expression.spel.ast.Assign;
import org.springframework.expression.spel.ast.BeanReference;
import org.springframework.expression.spel.ast.CompoundExpression;
import org.springframework.expression.spel.ast.Literal;
import org.springframework.expression.spel.ast.Operator;
import org.springframework.expression.spel.ast.Projection;
import org.springframework.expression.spel.ast.PropertyOrFieldReference;
import org.springframework.expression.spel.ast.Selection;
import org.springframework.expression.spel.ast.VariableReference;
import org.springframework.expression.spel.standard.SpelExpression;
import org.springframework.util.StringUtils;

/** The variables and beans that the expressions on a method name. */
final class ExpressionWords {

    static final ParameterNameDiscoverer PARAMETER_NAMES = new DefaultParameterNameDiscoverer();

    private static final Set<String> BEFORE = Set.of("#root", "#this", "#request", "#client");

    /** Properties of the call itself, which every expression may use. */
    private static final Set<String> OF_THE_CALL = Set.of("method", "arguments", "this", "staticPart", "class");

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
        for (SpelNode node : nodes(expression)) {
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

    /** Refuses mistakes that every call would stumble over: an assignment, and a word without its #. */
    static void requireReadable(AnnotatedLimit limit) {
        requireReadable(limit, "key", limit.key());
        requireReadable(limit, "cost", limit.cost());
        requireReadable(limit, "countWhen", limit.countWhen());
        requireReadable(limit, "resetWhen", limit.resetWhen());
    }

    private static void requireReadable(AnnotatedLimit limit, String attribute, @Nullable Expression expression) {
        if (!(expression instanceof SpelExpression spel)) {
            return;
        }
        if (nodes(spel).stream().anyMatch(Assign.class::isInstance)) {
            throw new InvalidRateLimitedException(
                    limit.on(), attribute, spel.getExpressionString(), "write == to compare; a single = assigns");
        }
        String bare = bareWord(spel.getAST());
        if (bare != null) {
            throw new InvalidRateLimitedException(
                    limit.on(),
                    attribute,
                    spel.getExpressionString(),
                    "write #" + bare + ": arguments, #request, #client, #status, #result and #exception begin with #,"
                            + " and a text stands in quotes");
        }
    }

    /** A property of nothing, such as {@code status} in {@code status == 401}; {@code null} if there is none. */
    private static @Nullable String bareWord(SpelNode node) {
        if (node instanceof Selection || node instanceof Projection) {
            return null; // its words are properties of the elements
        }
        if (node instanceof PropertyOrFieldReference property) {
            return OF_THE_CALL.contains(property.getName()) ? null : property.getName();
        }
        boolean chain = node instanceof CompoundExpression;
        for (int i = 0; i < node.getChildCount(); i++) {
            SpelNode child = node.getChild(i);
            boolean follows = chain && i > 0 && child instanceof PropertyOrFieldReference;
            String bare = follows ? null : bareWord(child);
            if (bare != null) {
                return bare;
            }
        }
        return null;
    }

    /** Refuses a property that the class of an argument does not have. */
    static void requireProperties(Method method, AnnotatedLimit limit) {
        requireProperties(method, limit, "key", limit.key());
        requireProperties(method, limit, "cost", limit.cost());
        requireProperties(method, limit, "countWhen", limit.countWhen());
        requireProperties(method, limit, "resetWhen", limit.resetWhen());
    }

    private static void requireProperties(
            Method method, AnnotatedLimit limit, String attribute, @Nullable Expression expression) {
        if (expression == null) {
            return;
        }
        for (SpelNode node : nodes(expression)) {
            if (node instanceof CompoundExpression
                    && node.getChild(0) instanceof VariableReference variable
                    && node.getChild(1) instanceof PropertyOrFieldReference property
                    && !property.isNullSafe()) {
                Class<?> type = typeOf(variable.toStringAST(), method);
                if (type != null && isClosed(type) && !hasProperty(type, property.getName())) {
                    throw new InvalidRateLimitedException(
                            limit.on(),
                            attribute,
                            expression.getExpressionString(),
                            "write a property of " + type.getSimpleName() + " instead of " + property.getName()
                                    + ", which it does not have");
                }
            }
        }
    }

    private static @Nullable Class<?> typeOf(String word, Method method) {
        @Nullable String @Nullable [] names = PARAMETER_NAMES.getParameterNames(method);
        for (int i = 0; i < method.getParameterCount(); i++) {
            if (word.equals("#a" + i) || word.equals("#p" + i) || (names != null && word.equals("#" + names[i]))) {
                return method.getParameterTypes()[i];
            }
        }
        return null;
    }

    /** Whether no argument of that type can have further properties that matter. */
    private static boolean isClosed(Class<?> type) {
        return type.isRecord()
                || Modifier.isFinal(type.getModifiers())
                || !(type.isInterface()
                        || Modifier.isAbstract(type.getModifiers())
                        || type == Object.class
                        || Map.class.isAssignableFrom(type));
    }

    private static boolean hasProperty(Class<?> type, String name) {
        String getter = StringUtils.capitalize(name);
        for (Method method : type.getMethods()) {
            String called = method.getName();
            if (method.getParameterCount() == 0
                    && (called.equals(name) || called.equals("get" + getter) || called.equals("is" + getter))) {
                return true;
            }
        }
        return (type.isArray() && name.equals("length"))
                || Arrays.stream(type.getFields())
                        .anyMatch(field -> field.getName().equals(name));
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
