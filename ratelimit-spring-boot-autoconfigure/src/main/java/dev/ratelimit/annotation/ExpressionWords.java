package dev.ratelimit.annotation;

import dev.ratelimit.annotation.LimitedMethod.AnnotatedLimit;
import dev.ratelimit.web.ExpressionTree;
import java.lang.reflect.Method;
import java.lang.reflect.Modifier;
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
import org.springframework.expression.spel.ast.CompoundExpression;
import org.springframework.expression.spel.ast.PropertyOrFieldReference;
import org.springframework.expression.spel.ast.VariableReference;
import org.springframework.util.StringUtils;

/** Refuses words in the expressions on a method that no call has a value for. */
final class ExpressionWords {

    static final ParameterNameDiscoverer PARAMETER_NAMES = new DefaultParameterNameDiscoverer();

    private static final Set<String> BEFORE = Set.of("#root", "#this", "#request", "#client");

    /** Properties of the call itself, which every expression may use. */
    private static final Set<String> OF_THE_CALL = Set.of("method", "arguments", "this", "staticPart", "class");

    private static final Set<String> AFTERWARDS = Set.of("#result", "#exception", "#status");

    private ExpressionWords() {}

    /**
     * A word that is not known would be null in every call: a key that is mistyped would count by user, and a condition that is
     * mistyped would count nothing.
     *
     * @param methods those that the annotation applies to; a word is known if one of them has it
     */
    static void requireKnown(List<Method> methods, AnnotatedLimit limit) {
        Set<String> before = new LinkedHashSet<>();
        methods.forEach(method -> before.addAll(arguments(method)));
        boolean unnamed = methods.stream()
                .anyMatch(
                        method -> method.getParameterCount() > 0 && PARAMETER_NAMES.getParameterNames(method) == null);
        requireKnown(limit, "key", limit.key(), before, unnamed);
        requireKnown(limit, "cost", limit.cost(), before, unnamed);
        Set<String> afterwards = new LinkedHashSet<>(before);
        afterwards.addAll(AFTERWARDS);
        requireKnown(limit, "countWhen", limit.countWhen(), afterwards, unnamed);
        requireKnown(limit, "resetWhen", limit.resetWhen(), afterwards, unnamed);
    }

    /**
     * @param unnamed whether the class has no names of its arguments, since it was compiled without them
     */
    private static void requireKnown(
            AnnotatedLimit limit,
            String attribute,
            @Nullable Expression expression,
            Set<String> known,
            boolean unnamed) {
        if (expression == null) {
            return;
        }
        for (String word : new ExpressionTree(expression).variables()) {
            if (!known.contains(word) && !BEFORE.contains(word)) {
                String advice = unnamed
                        ? "compile the class with -parameters (javac) or -java-parameters (kotlinc), so that " + word
                                + " is known; or write one of #request, #client"
                        : "write no " + word + ", which nothing is called here; known are #request, #client";
                throw new InvalidRateLimitedException(
                        limit.on(),
                        attribute,
                        expression.getExpressionString(),
                        advice + (known.isEmpty() ? "" : ", " + String.join(", ", known)));
            }
        }
    }

    /** Refuses mistakes that every call would stumble over: an assignment, a status as text, and a word without its #. */
    static void requireReadable(AnnotatedLimit limit) {
        requireReadable(limit, "key", limit.key());
        requireReadable(limit, "cost", limit.cost());
        requireReadable(limit, "countWhen", limit.countWhen());
        requireReadable(limit, "resetWhen", limit.resetWhen());
    }

    private static void requireReadable(AnnotatedLimit limit, String attribute, @Nullable Expression expression) {
        if (expression == null) {
            return;
        }
        ExpressionTree tree = new ExpressionTree(expression);
        if (tree.assigns()) {
            throw new InvalidRateLimitedException(
                    limit.on(), attribute, expression.getExpressionString(), "write == to compare; a single = assigns");
        }
        String text = tree.textComparedWith("#status");
        if (text != null) {
            throw new InvalidRateLimitedException(
                    limit.on(),
                    attribute,
                    expression.getExpressionString(),
                    "write a number instead of " + text + ": #status is a number, and no text equals it");
        }
        String bare = tree.bareWord(OF_THE_CALL);
        if (bare != null) {
            throw new InvalidRateLimitedException(
                    limit.on(),
                    attribute,
                    expression.getExpressionString(),
                    "write #" + bare + ": arguments, #request, #client, #status, #result and #exception begin with #,"
                            + " and a text stands in quotes");
        }
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
        for (SpelNode node : new ExpressionTree(expression).nodes()) {
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
}
