package dev.ratelimit.annotation.interceptor;

import dev.ratelimit.annotation.InvalidRateLimitedException;
import dev.ratelimit.annotation.interceptor.LimitedMethod.AnnotatedLimit;
import dev.ratelimit.web.expression.ExpressionProperties;
import dev.ratelimit.web.expression.ExpressionProperties.Variable;
import dev.ratelimit.web.expression.ExpressionTree;
import java.lang.reflect.Method;
import java.lang.reflect.Modifier;
import java.lang.reflect.TypeVariable;
import java.util.ArrayList;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Set;
import java.util.concurrent.Callable;
import java.util.concurrent.CompletionStage;
import org.jspecify.annotations.Nullable;
import org.springframework.core.DefaultParameterNameDiscoverer;
import org.springframework.core.ParameterNameDiscoverer;
import org.springframework.core.ResolvableType;
import org.springframework.expression.Expression;
import org.springframework.util.ClassUtils;

/** Refuses words in the expressions on a method that no call has a value for. */
final class ExpressionWords {

    static final ParameterNameDiscoverer PARAMETER_NAMES = new DefaultParameterNameDiscoverer();

    private static final String REQUEST_NAME = "jakarta.servlet.http.HttpServletRequest";

    private static final Set<String> BEFORE = Set.of("#root", "#this", "#request", "#client");

    /** Properties of the call itself, which every expression may use. */
    private static final Set<String> OF_THE_CALL = Set.of("method", "arguments", "this", "staticPart", "class");

    private static final Set<String> AFTERWARDS = Set.of("#result", "#exception", "#status");

    /** The type of {@code #request}; {@code null} outside of the web. */
    private static final @Nullable Class<?> REQUEST =
            ClassUtils.isPresent(REQUEST_NAME, null) ? ClassUtils.resolveClassName(REQUEST_NAME, null) : null;

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

    /**
     * Refuses a property that does not exist.
     *
     * @param methods those that the annotation applies to; a property may be that of one of them
     * @param type the class of the bean
     */
    static void requireProperties(List<Method> methods, Class<?> type, AnnotatedLimit limit) {
        requireProperties(methods, type, limit, "key", limit.key());
        requireProperties(methods, type, limit, "cost", limit.cost());
        requireProperties(methods, type, limit, "countWhen", limit.countWhen());
        requireProperties(methods, type, limit, "resetWhen", limit.resetWhen());
    }

    private static void requireProperties(
            List<Method> methods,
            Class<?> type,
            AnnotatedLimit limit,
            String attribute,
            @Nullable Expression expression) {
        if (expression == null) {
            return;
        }
        String advice =
                ExpressionProperties.mistake(new ExpressionTree(expression), word -> types(word, methods, type));
        if (advice != null) {
            throw new InvalidRateLimitedException(limit.on(), attribute, expression.getExpressionString(), advice);
        }
    }

    /** All that the word may be in a call of one of the methods: an argument may hide a variable of the same name. */
    private static List<Variable> types(String word, List<Method> methods, Class<?> type) {
        List<Variable> types = new ArrayList<>();
        switch (word) {
            case "#client" -> types.add(Variable.of(String.class));
            case "#status" -> types.add(Variable.of(Integer.class));
            case "#exception" -> types.add(Variable.of(Throwable.class));
            case "#result" -> methods.forEach(method -> types.add(new Variable(result(method, type), false)));
            case "#request" -> {
                if (REQUEST != null) {
                    types.add(Variable.of(REQUEST));
                }
            }
            default -> {}
        }
        for (Method method : methods) {
            ResolvableType argument = argument(word, method, type);
            if (argument != null) {
                types.add(new Variable(argument, isClosed(argument)));
            }
        }
        return types;
    }

    private static @Nullable ResolvableType argument(String word, Method method, Class<?> type) {
        @Nullable String @Nullable [] names = PARAMETER_NAMES.getParameterNames(method);
        for (int i = 0; i < method.getParameterCount(); i++) {
            if (word.equals("#a" + i) || word.equals("#p" + i) || (names != null && word.equals("#" + names[i]))) {
                return ResolvableType.forMethodParameter(method, i, type);
            }
        }
        return null;
    }

    /** The type of the value that a call ends with. */
    private static ResolvableType result(Method method, Class<?> type) {
        ResolvableType returned = ResolvableType.forMethodReturnType(method, type);
        Class<?> later = method.getReturnType() == Callable.class ? Callable.class : CompletionStage.class;
        return later.isAssignableFrom(returned.toClass()) ? returned.as(later).getGeneric(0) : returned;
    }

    /** Whether no argument of that type is expected to have further properties. */
    private static boolean isClosed(ResolvableType type) {
        Class<?> raw = type.resolve();
        return raw != null
                && !(type.getType() instanceof TypeVariable)
                && !raw.isInterface()
                && !Modifier.isAbstract(raw.getModifiers());
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
