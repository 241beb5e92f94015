package dev.ratelimit.annotation.interceptor;

import dev.ratelimit.annotation.InvalidRateLimitedException;
import dev.ratelimit.annotation.interceptor.LimitedMethod.AnnotatedLimit;
import dev.ratelimit.web.expression.ExpressionProperties;
import dev.ratelimit.web.expression.ExpressionProperties.Variable;
import dev.ratelimit.web.expression.ExpressionTree;
import java.lang.reflect.Method;
import java.lang.reflect.Modifier;
import java.lang.reflect.TypeVariable;
import java.security.Principal;
import java.util.ArrayList;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Set;
import java.util.concurrent.Callable;
import java.util.concurrent.CompletionStage;
import java.util.stream.Stream;
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

    private static final Set<String> BEFORE = Set.of("#root", "#this", "#request", "#principal", "#client");

    private static final String OF_REQUEST = "#request, #principal, #client";

    /** Properties of the call itself, which every expression may use. */
    private static final Set<String> OF_THE_CALL = Set.of("method", "arguments", "this", "staticPart", "class");

    private static final List<String> AFTERWARDS = List.of("#result", "#exception", "#status");

    /** Methods that return one of these have no outcome yet, and nobody waits for it. */
    private static final List<Class<?>> LATER = Stream.of(
                    "java.util.concurrent.Flow$Publisher",
                    "java.util.concurrent.Future",
                    "org.reactivestreams.Publisher",
                    "org.springframework.web.context.request.async.DeferredResult",
                    "org.springframework.web.context.request.async.WebAsyncTask")
            .filter(name -> ClassUtils.isPresent(name, null))
            .<Class<?>>map(name -> ClassUtils.resolveClassName(name, null))
            .toList();

    /** The last argument of a suspending function of Kotlin. */
    private static final String CONTINUATION = "kotlin.coroutines.Continuation";

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
                String words = OF_REQUEST + (known.isEmpty() ? "" : ", " + String.join(", ", known));
                String advice = unnamed
                        ? "compile the class with -parameters (javac) or -java-parameters (kotlinc), so that " + word
                                + " is known; or write one of " + words
                        : "write one of " + words + " instead of " + word + ", which is unknown here";
                throw new InvalidRateLimitedException(limit.on(), attribute, expression.getExpressionString(), advice);
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
        if (expression == null) {
            return;
        }
        ExpressionTree tree = new ExpressionTree(expression);
        refuse(limit, attribute, expression, tree.assignment());
        refuse(limit, attribute, expression, tree.bareClass());
        String bare = tree.bareWord(OF_THE_CALL);
        if (bare != null) {
            throw new InvalidRateLimitedException(
                    limit.on(),
                    attribute,
                    expression.getExpressionString(),
                    (attribute.equals("key")
                                    ? "write user, ip, user+ip, session or api-key, or an expression: "
                                    : "write ")
                            + "#" + bare
                            + ": arguments, #request, #principal, #client, #status, #result and #exception begin"
                            + " with #,"
                            + " and a text stands in quotes");
        }
    }

    private static void refuse(AnnotatedLimit limit, String attribute, Expression expression, @Nullable String advice) {
        if (advice != null) {
            throw new InvalidRateLimitedException(limit.on(), attribute, expression.getExpressionString(), advice);
        }
    }

    /**
     * Refuses mistakes that types tell, such as a property that does not exist.
     *
     * @param methods those that the annotation applies to; a property may be that of one of them
     * @param type the class of the bean
     */
    static void requireTypes(List<Method> methods, Class<?> type, AnnotatedLimit limit) {
        requireTypes(methods, type, limit, "key", limit.key(), false);
        requireTypes(methods, type, limit, "cost", limit.cost(), false);
        requireTypes(methods, type, limit, "countWhen", limit.countWhen(), true);
        requireTypes(methods, type, limit, "resetWhen", limit.resetWhen(), true);
    }

    /**
     * Refuses {@code #result} and {@code #exception} where neither is known when the method has returned: a
     * {@code countWhen} of {@code #exception != null} would count nothing.
     *
     * @param methods those that the annotation applies to; the words are fine if one of them has an outcome
     */
    static void requireOutcome(List<Method> methods, AnnotatedLimit limit) {
        requireOutcome(methods, limit, "countWhen", limit.countWhen());
        requireOutcome(methods, limit, "resetWhen", limit.resetWhen());
    }

    private static void requireOutcome(
            List<Method> methods, AnnotatedLimit limit, String attribute, @Nullable Expression expression) {
        if (expression == null || !methods.stream().allMatch(ExpressionWords::endsLater)) {
            return;
        }
        for (String word : new ExpressionTree(expression).variables()) {
            if (word.equals("#result") || word.equals("#exception")) {
                throw new InvalidRateLimitedException(
                        limit.on(),
                        attribute,
                        expression.getExpressionString(),
                        "write #status instead of " + word + ", or return a CompletionStage: the outcome of "
                                + (isSuspending(methods.get(0))
                                        ? "a suspending function"
                                        : methods.get(0).getReturnType().getSimpleName())
                                + " is not known when the method returns");
            }
        }
    }

    private static boolean endsLater(Method method) {
        Class<?> returned = method.getReturnType();
        return isSuspending(method)
                || (!CompletionStage.class.isAssignableFrom(returned)
                        && LATER.stream().anyMatch(later -> later.isAssignableFrom(returned)));
    }

    private static boolean isSuspending(Method method) {
        Class<?>[] arguments = method.getParameterTypes();
        return arguments.length > 0 && arguments[arguments.length - 1].getName().equals(CONTINUATION);
    }

    private static void requireTypes(
            List<Method> methods,
            Class<?> type,
            AnnotatedLimit limit,
            String attribute,
            @Nullable Expression expression,
            boolean condition) {
        if (expression == null) {
            return;
        }
        String advice = ExpressionProperties.mistake(
                new ExpressionTree(expression), condition, word -> types(word, methods, type));
        refuse(limit, attribute, expression, advice);
    }

    /** All that the word may be in a call of one of the methods: an argument may hide a variable of the same name. */
    private static List<Variable> types(String word, List<Method> methods, Class<?> type) {
        List<Variable> types = new ArrayList<>();
        switch (word) {
            case "#client" -> types.add(Variable.of(String.class));
            case "#principal" -> types.add(Variable.of(Principal.class));
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
