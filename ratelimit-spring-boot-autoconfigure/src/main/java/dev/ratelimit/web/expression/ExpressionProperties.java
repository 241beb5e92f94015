package dev.ratelimit.web.expression;

import dev.ratelimit.support.Spelling;
import java.lang.reflect.Field;
import java.lang.reflect.Method;
import java.lang.reflect.Modifier;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.TreeSet;
import java.util.function.Function;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import org.springframework.core.NativeDetector;
import org.springframework.core.ResolvableType;
import org.springframework.expression.EvaluationException;
import org.springframework.expression.TypeLocator;
import org.springframework.expression.spel.SpelNode;
import org.springframework.expression.spel.ast.CompoundExpression;
import org.springframework.expression.spel.ast.MethodReference;
import org.springframework.expression.spel.ast.PropertyOrFieldReference;
import org.springframework.expression.spel.ast.VariableReference;
import org.springframework.expression.spel.support.StandardTypeLocator;
import org.springframework.util.ClassUtils;
import org.springframework.util.StringUtils;

/**
 * Finds mistakes that types tell: properties and methods that do not exist, such as {@code #form.adress.street}, classes that do not exist, and
 * comparisons without effect.
 *
 * <p>An expression sees the properties of the value, whose class may have more of them than the declared type. So for a type that is
 * not final, only a slip of the pen is a mistake: a property that differs by one letter, or by case, from one that the type has.
 */
public final class ExpressionProperties {

    /** The properties of these are not those of their type. */
    private static final List<Class<?>> OPEN = List.of(Map.class, Class.class, Void.class);

    private static final TypeLocator CLASSES = new StandardTypeLocator();

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
     * The advice for the first mistake that types tell: a property, method or class that does not exist, a comparison that has
     * the same answer in every call, or a condition that is neither true nor false. {@code null} if there may be none.
     *
     * @param condition whether the expression has to be true or false
     * @param variables the types that a variable, with its {@code #}, can have; none if they are not known
     */
    public static @Nullable String mistake(
            ExpressionTree tree, boolean condition, Function<String, List<Variable>> variables) {
        String unknown = unknownProperty(tree, variables);
        if (unknown == null) {
            unknown = unknownClass(tree);
        }
        if (unknown == null) {
            unknown = ExpressionComparisons.mistake(tree, variables);
        }
        return unknown == null && condition ? ExpressionComparisons.noCondition(tree, variables) : unknown;
    }

    private static @Nullable String unknownProperty(ExpressionTree tree, Function<String, List<Variable>> variables) {
        for (SpelNode node : tree.nodes()) {
            if (node instanceof CompoundExpression chain && chain.getChild(0) instanceof VariableReference variable) {
                String mistake = unknownProperty(chain, variables.apply(variable.toStringAST()));
                if (mistake != null) {
                    return mistake;
                }
            }
        }
        return null;
    }

    /** Only if it is one for every type that the variable can have. */
    private static @Nullable String unknownProperty(CompoundExpression chain, List<Variable> types) {
        String first = null;
        for (Variable type : types) {
            String mistake = follow(chain, type).mistake();
            if (mistake == null) {
                return null;
            }
            first = first == null ? mistake : first;
        }
        return first;
    }

    private static @Nullable String unknownClass(ExpressionTree tree) {
        if (NativeDetector.inNativeImage()) {
            return null; // a class that nothing else names may not be known
        }
        for (String name : tree.classes()) {
            try {
                CLASSES.findType(name);
            } catch (EvaluationException e) {
                return "name a class that exists, with its package, instead of " + name;
            }
        }
        return null;
    }

    /** The types that a variable or a chain of its properties can have; none if one of them is not known. */
    static List<Class<?>> typesOf(SpelNode node, Function<String, List<Variable>> variables) {
        boolean isChain = node instanceof CompoundExpression;
        if (!((isChain ? node.getChild(0) : node) instanceof VariableReference variable)) {
            return List.of();
        }
        List<Class<?>> types = new ArrayList<>();
        for (Variable possible : variables.apply(variable.toStringAST())) {
            ResolvableType type =
                    isChain ? follow((CompoundExpression) node, possible).type() : possible.type();
            Class<?> raw = type == null ? null : type.resolve();
            if (raw == null || isOpen(raw)) {
                return List.of();
            }
            types.add(ClassUtils.resolvePrimitiveIfNecessary(raw));
        }
        return types;
    }

    /**
     * Where a chain of properties and methods ends.
     *
     * @param type the type of its value; {@code null} if that is not known
     * @param mistake the advice for a part that does not exist; {@code null} if all may exist
     */
    private record End(
            @Nullable ResolvableType type, @Nullable String mistake) {

        static final End UNKNOWN = new End(null, null);
    }

    private static End follow(CompoundExpression chain, Variable variable) {
        ResolvableType type = variable.type();
        boolean complete = variable.complete();
        for (int i = 1; i < chain.getChildCount(); i++) {
            SpelNode part = chain.getChild(i);
            boolean isProperty = part instanceof PropertyOrFieldReference;
            if (isLookedInto(part, type)) {
                if (!isProperty) {
                    return End.UNKNOWN; // the method may be one of the Optional
                }
                type = type.getGeneric(0);
                complete = false;
            }
            Class<?> raw = type.resolve();
            if ((!isProperty && !(part instanceof MethodReference)) || raw == null || isOpen(raw)) {
                return End.UNKNOWN;
            }
            Class<?> owner = ClassUtils.resolvePrimitiveIfNecessary(raw);
            boolean strict = complete || Modifier.isFinal(owner.getModifiers());
            String name = isProperty ? ((PropertyOrFieldReference) part).getName() : ((MethodReference) part).getName();
            List<ResolvableType> next =
                    isProperty ? typesOfProperty(name, owner, type) : typesOfMethod(name, owner, type);
            if (next.isEmpty()) {
                return new End(
                        null, isProperty ? propertyAdvice(name, owner, strict) : methodAdvice(name, owner, strict));
            }
            if (next.size() > 1) {
                return End.UNKNOWN;
            }
            type = next.get(0);
            complete = false;
        }
        return new End(type, null);
    }

    /** Whether the value of an Optional is asked, and not the Optional itself. */
    private static boolean isLookedInto(SpelNode part, ResolvableType type) {
        return type.resolve() == Optional.class
                && ((part instanceof PropertyOrFieldReference property && property.isNullSafe())
                        || (part instanceof MethodReference method && method.isNullSafe()));
    }

    private static boolean isOpen(Class<?> type) {
        return type == Object.class
                || type == void.class
                || OPEN.stream().anyMatch(open -> open.isAssignableFrom(type));
    }

    private static @Nullable String propertyAdvice(String name, Class<?> owner, boolean complete) {
        return advice("property", "", name, names(owner), owner, complete);
    }

    private static @Nullable String methodAdvice(String name, Class<?> owner, boolean complete) {
        Set<String> known = methods(owner).map(Method::getName).collect(Collectors.toCollection(TreeSet::new));
        return advice("method", "(…)", name, known, owner, complete);
    }

    /**
     * @param call follows the name
     * @param known the names that exist
     */
    private static @Nullable String advice(
            String kind, String call, String name, Set<String> known, Class<?> owner, boolean complete) {
        if (known.isEmpty()) {
            return null; // in a native image, methods may not be known
        }
        String type = owner.getSimpleName();
        String meant = complete ? Spelling.nearest(name, known) : Spelling.slip(name, known);
        if (meant != null) {
            return "write " + meant + call + " instead of " + name + call + ", which is no " + kind + " of " + type;
        }
        return complete
                ? "write a " + kind + " of " + type + " instead of " + name + call + ", which it does not have"
                : null;
    }

    /** The types that methods of that name return; none if there is no such method. */
    private static List<ResolvableType> typesOfMethod(String name, Class<?> owner, ResolvableType type) {
        Map<Class<?>, ResolvableType> types = new LinkedHashMap<>();
        methods(owner)
                .filter(method -> method.getName().equals(name) && !method.isBridge())
                .map(method ->
                        ResolvableType.forType(method.getGenericReturnType(), type.as(method.getDeclaringClass())))
                .forEach(returned -> types.put(returned.toClass(), returned));
        return List.copyOf(types.values());
    }

    /** An interface does not list the methods of every object. */
    private static Stream<Method> methods(Class<?> owner) {
        return Stream.concat(
                Stream.of(owner.getMethods()),
                owner.isInterface() ? Stream.of(Object.class.getMethods()) : Stream.of());
    }

    private static List<ResolvableType> typesOfProperty(String name, Class<?> owner, ResolvableType type) {
        ResolvableType found = typeOf(name, owner, type);
        return found == null ? List.of() : List.of(found);
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
