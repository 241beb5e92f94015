package dev.ratelimit.web.expression;

import dev.ratelimit.support.Spelling;
import java.lang.reflect.Field;
import java.lang.reflect.Method;
import java.lang.reflect.Modifier;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.TreeSet;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;
import org.springframework.core.ResolvableType;
import org.springframework.expression.spel.SpelNode;
import org.springframework.expression.spel.ast.CompoundExpression;
import org.springframework.expression.spel.ast.PropertyOrFieldReference;
import org.springframework.expression.spel.ast.VariableReference;
import org.springframework.util.ClassUtils;
import org.springframework.util.StringUtils;

/**
 * Finds properties that do not exist, such as {@code #form.adress.street}, by the types of variables and of their properties.
 *
 * <p>An expression sees the properties of the value, whose class may have more of them than the declared type. So for a type that is
 * not final, only a slip of the pen is a mistake: a property that differs by one letter, or by case, from one that the type has.
 */
public final class ExpressionProperties {

    /** The properties of these are not those of their type. */
    private static final List<Class<?>> OPEN = List.of(Map.class, Class.class, Void.class);

    /**
     * The type of a variable.
     *
     * @param complete whether a property that the type lacks is a mistake, though the type is not final
     */
    public record Variable(ResolvableType type, boolean complete) {

        public static Variable of(Class<?> type) {
            return new Variable(ResolvableType.forClass(type), false);
        }
    }

    private ExpressionProperties() {}

    /**
     * The advice for the first property that does not exist; {@code null} if all may exist.
     *
     * @param variables the types that a variable, with its {@code #}, can have; none if they are not known
     */
    public static @Nullable String mistake(ExpressionTree tree, Function<String, List<Variable>> variables) {
        for (SpelNode node : tree.nodes()) {
            if (node instanceof CompoundExpression chain && chain.getChild(0) instanceof VariableReference variable) {
                List<@Nullable String> mistakes = variables.apply(variable.toStringAST()).stream()
                        .map(type -> mistake(chain, type))
                        .toList();
                if (!mistakes.isEmpty() && !mistakes.contains(null)) {
                    return mistakes.get(0);
                }
            }
        }
        return null;
    }

    private static @Nullable String mistake(CompoundExpression chain, Variable variable) {
        ResolvableType type = variable.type();
        boolean complete = variable.complete();
        for (int i = 1; i < chain.getChildCount(); i++) {
            if (!(chain.getChild(i) instanceof PropertyOrFieldReference property)) {
                return null;
            }
            if (property.isNullSafe() && type.resolve() == Optional.class) {
                type = type.getGeneric(0); // it looks into it
                complete = false;
            }
            Class<?> raw = type.resolve();
            if (raw == null || isOpen(raw)) {
                return null;
            }
            Class<?> owner = ClassUtils.resolvePrimitiveIfNecessary(raw);
            ResolvableType next = typeOf(property.getName(), owner, type);
            if (next == null) {
                return advice(property.getName(), owner, complete || Modifier.isFinal(owner.getModifiers()));
            }
            type = next;
            complete = false;
        }
        return null;
    }

    private static boolean isOpen(Class<?> type) {
        return type == Object.class
                || type == void.class
                || OPEN.stream().anyMatch(open -> open.isAssignableFrom(type));
    }

    private static @Nullable String advice(String name, Class<?> owner, boolean complete) {
        Set<String> known = names(owner);
        if (known.isEmpty()) {
            return null; // in a native image, methods may not be known
        }
        String meant = complete ? Spelling.nearest(name, known) : Spelling.slip(name, known);
        if (meant != null) {
            return "write " + meant + " instead of " + name + ", which is no property of " + owner.getSimpleName();
        }
        return complete
                ? "write a property of " + owner.getSimpleName() + " instead of " + name + ", which it does not have"
                : null;
    }

    /** The type of a property; {@code null} if there is no such property. */
    private static @Nullable ResolvableType typeOf(String name, Class<?> owner, ResolvableType type) {
        if (owner.isArray() && name.equals("length")) {
            return ResolvableType.forClass(int.class);
        }
        if (name.equals("class")) {
            return ResolvableType.forClass(Class.class); // interfaces do not declare it
        }
        for (String getter : List.of(
                "get" + StringUtils.capitalize(name), "get" + name, "is" + StringUtils.capitalize(name), name)) {
            Method found = getter(getter, owner);
            if (found != null) {
                return ResolvableType.forType(found.getGenericReturnType(), type.as(found.getDeclaringClass()));
            }
        }
        for (Field field : owner.getFields()) {
            if (field.getName().equals(name)) {
                return ResolvableType.forType(field.getGenericType(), type.as(field.getDeclaringClass()));
            }
        }
        return null;
    }

    private static @Nullable Method getter(String name, Class<?> owner) {
        for (Method method : owner.getMethods()) {
            // A bridge has the type of the method that it overrides.
            if (method.getParameterCount() == 0 && method.getName().equals(name) && !method.isBridge()) {
                return method;
            }
        }
        return null;
    }

    /** The properties that were probably meant. */
    private static Set<String> names(Class<?> owner) {
        Set<String> names = new TreeSet<>();
        for (Method method : owner.getMethods()) {
            String name = method.getName();
            if (method.getParameterCount() > 0 || method.getReturnType() == void.class) {
                continue;
            }
            if (name.startsWith("get") && name.length() > 3) {
                names.add(StringUtils.uncapitalizeAsProperty(name.substring(3)));
            } else if (name.startsWith("is") && name.length() > 2) {
                names.add(StringUtils.uncapitalizeAsProperty(name.substring(2)));
            } else if (owner.isRecord()) {
                names.add(name);
            }
        }
        for (Field field : owner.getFields()) {
            names.add(field.getName());
        }
        return names;
    }
}
