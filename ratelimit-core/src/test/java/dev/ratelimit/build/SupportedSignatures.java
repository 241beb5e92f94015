package dev.ratelimit.build;

import com.sun.source.tree.ClassTree;
import com.sun.source.tree.CompilationUnitTree;
import com.sun.source.tree.IdentifierTree;
import com.sun.source.tree.ImportTree;
import com.sun.source.tree.MemberSelectTree;
import com.sun.source.tree.MethodTree;
import com.sun.source.tree.ModifiersTree;
import com.sun.source.tree.Tree;
import com.sun.source.tree.VariableTree;
import com.sun.source.util.JavacTask;
import com.sun.source.util.TreeScanner;
import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Collection;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import javax.lang.model.element.Modifier;
import javax.tools.JavaCompiler;
import javax.tools.JavaFileObject;
import javax.tools.StandardJavaFileManager;
import javax.tools.ToolProvider;

/** Finds internal types in the signatures of supported ones. It reads sources, so that no module has to be built before. */
final class SupportedSignatures {

    private static final JavaCompiler COMPILER = ToolProvider.getSystemJavaCompiler();

    private final Collection<String> internalPackages;
    private final List<String> findings = new ArrayList<>();

    SupportedSignatures(Collection<String> internalPackages) {
        this.internalPackages = internalPackages;
    }

    /** Each public signature that names an internal type, as {@code Type.member: package}. */
    List<String> findings() {
        return findings;
    }

    void read(Collection<Path> sources) throws IOException {
        try (StandardJavaFileManager files = COMPILER.getStandardFileManager(null, null, null)) {
            read(files, files.getJavaFileObjectsFromPaths(sources));
        }
    }

    void read(JavaFileObject source) throws IOException {
        try (StandardJavaFileManager files = COMPILER.getStandardFileManager(null, null, null)) {
            read(files, List.of(source));
        }
    }

    private void read(StandardJavaFileManager files, Iterable<? extends JavaFileObject> sources) throws IOException {
        JavacTask task = (JavacTask) COMPILER.getTask(null, files, null, List.of("-proc:none"), null, sources);
        for (CompilationUnitTree unit : task.parse()) {
            read(unit);
        }
    }

    private void read(CompilationUnitTree unit) {
        if (unit.getPackageName() == null
                || internalPackages.contains(unit.getPackageName().toString())) {
            return;
        }
        Map<String, String> packages = new HashMap<>();
        for (ImportTree imported : unit.getImports()) {
            String name = imported.getQualifiedIdentifier().toString();
            packages.put(name.substring(name.lastIndexOf('.') + 1), packageOf(name));
        }
        for (Tree type : unit.getTypeDecls()) {
            if (type instanceof ClassTree found
                    && found.getModifiers().getFlags().contains(Modifier.PUBLIC)) {
                read(found, found.getSimpleName().toString(), packages);
            }
        }
    }

    private void read(ClassTree type, String name, Map<String, String> packages) {
        check(type.getTypeParameters(), name, packages);
        check(type.getExtendsClause(), name, packages);
        check(type.getImplementsClause(), name, packages);
        for (Tree member : type.getMembers()) {
            if (member instanceof ClassTree nested && isVisible(nested.getModifiers(), type)) {
                read(nested, name + "." + nested.getSimpleName(), packages);
            } else if (member instanceof MethodTree method && isVisible(method.getModifiers(), type)) {
                String where = name + "." + method.getName();
                check(method.getTypeParameters(), where, packages);
                check(method.getReturnType(), where, packages);
                method.getParameters().forEach(parameter -> check(parameter.getType(), where, packages));
                check(method.getThrows(), where, packages);
            } else if (member instanceof VariableTree field && isVisible(field, type)) {
                check(field.getType(), name + "." + field.getName(), packages);
            }
        }
    }

    /** A component of a record is private as a field, and public as a method. */
    private static boolean isVisible(VariableTree field, ClassTree type) {
        boolean component = type.getKind() == Tree.Kind.RECORD
                && !field.getModifiers().getFlags().contains(Modifier.STATIC);
        return component || isVisible(field.getModifiers(), type);
    }

    private static boolean isVisible(ModifiersTree modifiers, ClassTree type) {
        Set<Modifier> flags = modifiers.getFlags();
        boolean ofInterface = type.getKind() == Tree.Kind.INTERFACE || type.getKind() == Tree.Kind.ANNOTATION_TYPE;
        return flags.contains(Modifier.PUBLIC)
                || flags.contains(Modifier.PROTECTED)
                || (ofInterface && !flags.contains(Modifier.PRIVATE));
    }

    private void check(Iterable<? extends Tree> types, String where, Map<String, String> packages) {
        types.forEach(type -> check(type, where, packages));
    }

    /**
     * @param type {@code null} where there is none, as for a constructor
     */
    private void check(Tree type, String where, Map<String, String> packages) {
        new TreeScanner<Void, Void>() {

            @Override
            public Void visitIdentifier(IdentifierTree name, Void unused) {
                checkPackage(packages.get(name.toString()), where);
                return null;
            }

            @Override
            public Void visitMemberSelect(MemberSelectTree name, Void unused) {
                checkPackage(packageOf(name.toString()), where);
                return null;
            }
        }.scan(type, null);
    }

    private void checkPackage(String name, String where) {
        if (name != null && internalPackages.contains(name)) {
            findings.add(where + ": " + name);
        }
    }

    /** The package of a type that may be nested: types begin with a capital letter. */
    private static String packageOf(String qualified) {
        StringBuilder name = new StringBuilder();
        for (String part : qualified.split("\\.")) {
            if (Character.isUpperCase(part.charAt(0))) {
                break;
            }
            name.append(name.isEmpty() ? "" : ".").append(part);
        }
        return name.toString();
    }
}
