package dev.ratelimit.web.expression;

import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.function.Predicate;
import org.jspecify.annotations.Nullable;
import org.springframework.expression.Expression;
import org.springframework.expression.spel.SpelNode;
import org.springframework.expression.spel.ast.Assign;
import org.springframework.expression.spel.ast.BeanReference;
import org.springframework.expression.spel.ast.CompoundExpression;
import org.springframework.expression.spel.ast.Literal;
import org.springframework.expression.spel.ast.Operator;
import org.springframework.expression.spel.ast.OperatorInstanceof;
import org.springframework.expression.spel.ast.Projection;
import org.springframework.expression.spel.ast.PropertyOrFieldReference;
import org.springframework.expression.spel.ast.Selection;
import org.springframework.expression.spel.ast.TypeReference;
import org.springframework.expression.spel.ast.VariableReference;
import org.springframework.expression.spel.standard.SpelExpression;

/** The parts of an expression, to find mistakes before it is evaluated. */
public final class ExpressionTree {

    private final @Nullable SpelNode root;
    private final List<SpelNode> nodes = new ArrayList<>();

    public ExpressionTree(Expression expression) {
        this.root = expression instanceof SpelExpression spel ? spel.getAST() : null;
        if (root != null) {
            add(root);
        }
    }

    private void add(SpelNode node) {
        nodes.add(node);
        for (int i = 0; i < node.getChildCount(); i++) {
            add(node.getChild(i));
        }
    }

    public List<SpelNode> nodes() {
        return nodes;
    }

    /** Whether the value is always the same. */
    public boolean isConstant() {
        return nodes.stream().allMatch(node -> node instanceof Literal || node instanceof Operator);
    }

    /** The advice for a class without {@code T(…)}, as in {@code #exception instanceof IOException}; {@code null} if none is. */
    public @Nullable String bareClass() {
        for (SpelNode node : nodes) {
            if (node instanceof OperatorInstanceof) {
                SpelNode type = node.getChild(1);
                SpelNode first = type instanceof CompoundExpression ? type.getChild(0) : type;
                if (first instanceof PropertyOrFieldReference) {
                    return "write T(" + (type == first ? "PACKAGE." : "") + type.toStringAST() + ") instead of "
                            + type.toStringAST() + ", with the package of the class";
                }
            }
        }
        return null;
    }

    /** The advice for an expression that assigns, as in {@code #status = 401}; {@code null} if it does not. */
    public @Nullable String assignment() {
        return nodes.stream().anyMatch(Assign.class::isInstance) ? Expressions.COMPARE : null;
    }

    /** The advice for the first bean that does not exist; {@code null} if all do. */
    public @Nullable String missingBean(Predicate<String> exists) {
        for (String bean : beans()) {
            if (!exists.test(bean)) {
                return "name a bean that exists instead of @" + bean;
            }
        }
        return null;
    }

    /** The whole expression; {@code null} if it is not one of Spring's. */
    @Nullable
    SpelNode root() {
        return root;
    }

    /** The classes that it names, as in {@code T(java.time.Duration)}, without primitive ones. */
    List<String> classes() {
        return nodes.stream()
                .filter(TypeReference.class::isInstance)
                .map(type -> type.getChild(0).toStringAST())
                .filter(name -> name.contains(".") || Character.isUpperCase(name.charAt(0)))
                .toList();
    }

    /** The names of the beans that it asks. */
    public List<String> beans() {
        return nodes.stream()
                .filter(BeanReference.class::isInstance)
                .map(bean -> bean.toStringAST().substring(1).replace("'", ""))
                .toList();
    }

    /** The variables that it reads, with their {@code #}. */
    public List<String> variables() {
        return nodes.stream()
                .filter(VariableReference.class::isInstance)
                .map(SpelNode::toStringAST)
                .toList();
    }

    /**
     * A property of nothing, such as {@code status} in {@code status == 401}; {@code null} if there is none.
     *
     * @param ofRoot the properties that the root object has
     */
    public @Nullable String bareWord(Set<String> ofRoot) {
        return root == null ? null : bareWord(root, ofRoot);
    }

    private static @Nullable String bareWord(SpelNode node, Set<String> ofRoot) {
        if (node instanceof Selection || node instanceof Projection) {
            return null; // its words are properties of the elements
        }
        if (node instanceof PropertyOrFieldReference property) {
            return ofRoot.contains(property.getName()) ? null : property.getName();
        }
        boolean chain = node instanceof CompoundExpression;
        for (int i = 0; i < node.getChildCount(); i++) {
            SpelNode child = node.getChild(i);
            boolean follows = chain && i > 0 && child instanceof PropertyOrFieldReference;
            String bare = follows ? null : bareWord(child, ofRoot);
            if (bare != null) {
                return bare;
            }
        }
        return null;
    }
}
