package dev.ratelimit.web.expression;

import dev.ratelimit.web.expression.ExpressionProperties.Variable;
import java.lang.reflect.Method;
import java.lang.reflect.Modifier;
import java.util.Arrays;
import java.util.List;
import java.util.Set;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;
import org.springframework.expression.spel.SpelNode;
import org.springframework.expression.spel.ast.BooleanLiteral;
import org.springframework.expression.spel.ast.Literal;
import org.springframework.expression.spel.ast.NullLiteral;
import org.springframework.expression.spel.ast.OpEQ;
import org.springframework.expression.spel.ast.OpGE;
import org.springframework.expression.spel.ast.OpGT;
import org.springframework.expression.spel.ast.OpLE;
import org.springframework.expression.spel.ast.OpLT;
import org.springframework.expression.spel.ast.OpNE;
import org.springframework.expression.spel.ast.StringLiteral;

/**
 * Finds comparisons that have the same answer in every call, such as {@code #result.statusCode == 401}: a
 * {@code HttpStatusCode} never equals a number. A {@code countWhen} like that would count nothing.
 */
final class ExpressionComparisons {

    private static final Set<Class<?>> COMPARISONS =
            Set.of(OpEQ.class, OpNE.class, OpLT.class, OpLE.class, OpGT.class, OpGE.class);

    private ExpressionComparisons() {}

    /** The advice for the first value that never equals the literal beside it; {@code null} if all may. */
    static @Nullable String mistake(ExpressionTree tree, Function<String, List<Variable>> variables) {
        for (SpelNode node : tree.nodes()) {
            if (COMPARISONS.contains(node.getClass()) && node.getChildCount() == 2) {
                String left = mistake(node.getChild(0), node.getChild(1), variables);
                String advice = left != null ? left : mistake(node.getChild(1), node.getChild(0), variables);
                if (advice != null) {
                    return advice;
                }
            }
        }
        return null;
    }

    /** The advice for an expression that is never true or false, though it has to be; {@code null} if it may. */
    static @Nullable String noCondition(ExpressionTree tree, Function<String, List<Variable>> variables) {
        SpelNode root = tree.root();
        if (root == null) {
            return null;
        }
        if (root instanceof Literal) {
            return root instanceof BooleanLiteral || root instanceof StringLiteral
                    ? null
                    : "write a condition, such as #status == 401, instead of " + root.toStringAST();
        }
        List<Class<?>> types = ExpressionProperties.typesOf(root, variables);
        // A text may be the word true.
        return !types.isEmpty()
                        && types.stream().allMatch(type -> cannotBe(type, Boolean.class) && type != String.class)
                ? "write a condition that is true or false: " + described(root, types.get(0))
                : null;
    }

    private static @Nullable String mistake(
            SpelNode value, SpelNode compared, Function<String, List<Variable>> variables) {
        if (!(compared instanceof Literal literal) || literal instanceof NullLiteral) {
            return null;
        }
        Class<?> kind = literal instanceof StringLiteral
                ? CharSequence.class
                : literal instanceof BooleanLiteral ? Boolean.class : Number.class;
        List<Class<?>> types = ExpressionProperties.typesOf(value, variables);
        return types.isEmpty() || !types.stream().allMatch(type -> cannotBe(type, kind))
                ? null
                : advice(value, types.get(0), literal.toStringAST(), kind);
    }

    private static String advice(SpelNode value, Class<?> type, String literal, Class<?> kind) {
        String written = value.toStringAST();
        String why = ": " + described(value, type) + ", and no "
                + (kind == CharSequence.class ? "text" : kind == Boolean.class ? "boolean" : "number") + " equals it";
        if (type == String.class) {
            return "write a text in quotes instead of " + literal + why;
        }
        if (kind == CharSequence.class) {
            if (Number.class.isAssignableFrom(type)) {
                return "write a number instead of " + literal + why;
            }
            if (type == Boolean.class) {
                return "write true or false instead of " + literal + why;
            }
            return "compare " + written + (type.isEnum() ? ".name()" : ".toString()") + " with " + literal + why;
        }
        return kind == Number.class && hasNumber(type)
                ? "compare " + written + ".value() with " + literal + why
                : "write something else than " + literal + why;
    }

    private static boolean hasNumber(Class<?> type) {
        try {
            Method value = type.getMethod("value");
            return value.getReturnType() == int.class || value.getReturnType() == long.class;
        } catch (NoSuchMethodException e) {
            return false;
        }
    }

    private static String described(SpelNode value, Class<?> type) {
        return value.toStringAST() + " is "
                + (Number.class.isAssignableFrom(type)
                        ? "a number"
                        : type == String.class ? "a text" : "of type " + type.getSimpleName());
    }

    /** Whether no value of the type is of the other one; {@code false} if that is not certain. */
    private static boolean cannotBe(Class<?> type, Class<?> other) {
        if (other.isAssignableFrom(type)) {
            return false;
        }
        Class<?>[] permitted = type.getPermittedSubclasses();
        return Modifier.isFinal(type.getModifiers())
                || type.isEnum()
                || (permitted != null
                        && (type.isInterface() || Modifier.isAbstract(type.getModifiers()))
                        && Arrays.stream(permitted).allMatch(subtype -> cannotBe(subtype, other)));
    }
}
