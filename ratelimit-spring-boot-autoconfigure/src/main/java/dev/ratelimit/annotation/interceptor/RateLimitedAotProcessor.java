package dev.ratelimit.annotation.interceptor;

import dev.ratelimit.annotation.RateLimited;
import dev.ratelimit.annotation.interceptor.LimitedMethod.AnnotatedLimit;
import dev.ratelimit.web.expression.ExpressionTree;
import java.lang.reflect.Type;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Objects;
import java.util.Set;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import org.springframework.aot.hint.BindingReflectionHintsRegistrar;
import org.springframework.aot.hint.MemberCategory;
import org.springframework.aot.hint.ReflectionHints;
import org.springframework.beans.factory.aot.BeanFactoryInitializationAotContribution;
import org.springframework.beans.factory.aot.BeanFactoryInitializationAotProcessor;
import org.springframework.beans.factory.config.ConfigurableListableBeanFactory;
import org.springframework.core.GenericTypeResolver;
import org.springframework.core.MethodParameter;
import org.springframework.core.ResolvableType;
import org.springframework.expression.Expression;

/**
 * Adds the reflection hints that the expressions of {@link RateLimited} need in a native image: methods of arguments,
 * results and beans, and their properties. Methods of properties, such as {@code #form.date.getYear()}, are not known
 * here, except those of texts.
 */
final class RateLimitedAotProcessor implements BeanFactoryInitializationAotProcessor {

    @Override
    public @Nullable BeanFactoryInitializationAotContribution processAheadOfTime(
            ConfigurableListableBeanFactory beans) {
        Set<Type> types = new LinkedHashSet<>();
        for (String name : beans.getBeanDefinitionNames()) {
            Class<?> type = RateLimitedCheck.typeOf(name, beans);
            if (type != null) {
                RateLimitedCheck.limitedMethods(type).forEach(method -> collect(method, type, beans, types));
            }
        }
        return types.isEmpty()
                ? null
                : (generation, code) ->
                        register(types, generation.getRuntimeHints().reflection());
    }

    private static void collect(
            LimitedMethod limited, Class<?> type, ConfigurableListableBeanFactory beans, Set<Type> types) {
        for (AnnotatedLimit limit : limited.limits()) {
            for (Expression expression : expressions(limit)) {
                types.add(String.class);
                for (int i = 0; i < limited.method().getParameterCount(); i++) {
                    types.add(GenericTypeResolver.resolveType(
                            new MethodParameter(limited.method(), i).getGenericParameterType(), type));
                }
                new ExpressionTree(expression)
                        .beans().stream()
                                .filter(beans::containsBean)
                                .map(beans::getType)
                                .filter(Objects::nonNull)
                                .forEach(types::add);
            }
            if (limit.isSettled()) {
                types.add(GenericTypeResolver.resolveType(limited.method().getGenericReturnType(), type));
            }
        }
    }

    private static List<Expression> expressions(AnnotatedLimit limit) {
        return Stream.of(limit.key(), limit.cost(), limit.countWhen(), limit.resetWhen())
                .filter(Objects::nonNull)
                .toList();
    }

    private static void register(Set<Type> types, ReflectionHints hints) {
        BindingReflectionHintsRegistrar properties = new BindingReflectionHintsRegistrar();
        for (Type type : types) {
            properties.registerReflectionHints(hints, type);
            registerMethods(ResolvableType.forType(type), hints);
        }
    }

    /**
     * Registers the methods of the type and of its type arguments: the result of a {@code CompletionStage} is its
     * argument.
     */
    private static void registerMethods(ResolvableType type, ReflectionHints hints) {
        Class<?> raw = type.resolve();
        if (raw != null && !raw.isPrimitive() && raw != Object.class) {
            hints.registerType(raw, MemberCategory.INVOKE_PUBLIC_METHODS);
        }
        for (ResolvableType generic : type.getGenerics()) {
            registerMethods(generic, hints);
        }
    }
}
