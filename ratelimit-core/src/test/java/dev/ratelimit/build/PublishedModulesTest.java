package dev.ratelimit.build;

import static dev.ratelimit.build.BuildFiles.BOM;
import static dev.ratelimit.build.BuildFiles.GROUP;
import static dev.ratelimit.build.BuildFiles.ROOT;
import static dev.ratelimit.build.BuildFiles.children;
import static dev.ratelimit.build.BuildFiles.coordinates;
import static dev.ratelimit.build.BuildFiles.files;
import static dev.ratelimit.build.BuildFiles.internalPackages;
import static dev.ratelimit.build.BuildFiles.managed;
import static dev.ratelimit.build.BuildFiles.modulesWithCode;
import static dev.ratelimit.build.BuildFiles.pom;
import static dev.ratelimit.build.BuildFiles.publishedModules;
import static dev.ratelimit.build.BuildFiles.read;
import static dev.ratelimit.build.BuildFiles.text;
import static org.assertj.core.api.Assertions.assertThat;

import java.io.File;
import java.io.IOException;
import java.net.URI;
import java.nio.file.Path;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.regex.Pattern;
import javax.tools.JavaFileObject.Kind;
import javax.tools.SimpleJavaFileObject;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.MethodSource;
import org.w3c.dom.Element;

/** The modules that applications depend on: the BOM, their POMs and their packages. */
class PublishedModulesTest {
    private static final int MOST_TYPES = 22;
    private static final Pattern IMPORT = Pattern.compile("(?m)^import (?:static )?(dev\\.ratelimit[a-z.]*)\\.[A-Z].*");

    @Test
    void bomListsEveryPublishedModule() {
        assertThat(managed(BOM).map(module -> coordinates(module) + ":" + text(module, "version")))
                .as("managed by ratelimit-bom/pom.xml, compared with the modules that set <maven.deploy.skip>false")
                .containsExactlyInAnyOrderElementsOf(publishedModules().stream()
                        .map(module -> GROUP + ":" + module + ":${project.version}")
                        .toList());
    }

    /** The BOM has no parent, since it would pass on the versions of Spring Boot that the parent manages. */
    @Test
    void bomRepeatsTheParentThatItDoesNotHave() {
        Element bom = pom(BOM);
        assertThat(children(bom, "parent"))
                .as("<parent> in ratelimit-bom/pom.xml")
                .isEmpty();
        for (String name : List.of("groupId", "version", "url", "licenses", "developers", "scm", "issueManagement")) {
            assertThat(text(bom, name))
                    .as("<" + name + "> in ratelimit-bom/pom.xml, compared with pom.xml")
                    .isNotEmpty()
                    .isEqualTo(text(pom("."), name));
        }
    }

    /** Maven Central refuses a module without them, and children inherit neither. */
    @ParameterizedTest
    @MethodSource("dev.ratelimit.build.BuildFiles#publishedModules")
    void everyPublishedModuleHasANameAndADescription(String module) {
        for (String name : List.of("name", "description")) {
            assertThat(text(pom(module), name))
                    .as("<" + name + "> in " + module + "/pom.xml")
                    .isNotEmpty();
        }
    }

    /** Two modules with one package cannot both be on a module path. */
    @Test
    void noPackageIsInTwoModules() {
        Map<String, Set<String>> modules = new HashMap<>();
        for (String module : modulesWithCode()) {
            packages(module)
                    .keySet()
                    .forEach(name -> modules.computeIfAbsent(name, unused -> new TreeSet<>())
                            .add(module));
        }
        assertThat(modules)
                .isNotEmpty()
                .allSatisfy(
                        (name, in) -> assertThat(in).as("modules with " + name).hasSize(1));
    }

    /** Newcomers find their way in a package of up to about twenty types. */
    @Test
    void noPackageIsTooLarge() {
        Map<String, Integer> types = new TreeMap<>();
        for (String module : modulesWithCode()) {
            Path sources = ROOT.resolve(module).resolve("src/main/java");
            files(sources).stream()
                    .filter(file -> file.toString().endsWith(".java") && !file.endsWith("package-info.java"))
                    .forEach(file -> types.merge(module + "/" + sources.relativize(file.getParent()), 1, Integer::sum));
        }
        assertThat(types)
                .isNotEmpty()
                .allSatisfy((name, count) -> assertThat(count)
                        .as("types in " + name + "; split the package")
                        .isLessThanOrEqualTo(MOST_TYPES));
    }

    /** Javadoc and the comparison with the last release leave these out. */
    @Test
    void internalPackagesSayThatTheyAre() {
        Set<String> internal = new TreeSet<>();
        publishedModules()
                .forEach(module -> packages(module).forEach((name, packageInfo) -> {
                    if (packageInfo.contains("Internal:")) {
                        internal.add(name);
                    }
                }));
        assertThat(internalPackages())
                .as("<internal.packages> in pom.xml, compared with the package-infos that say \"Internal:\"")
                .containsExactlyInAnyOrderElementsOf(internal);
    }

    /** An application that uses such a signature would depend on a type that may change at any time. */
    @Test
    void noSupportedSignatureNamesAnInternalType() throws IOException {
        SupportedSignatures signatures = new SupportedSignatures(internalPackages());
        for (String module : publishedModules()) {
            List<Path> sources = files(ROOT.resolve(module).resolve("src/main/java")).stream()
                    .filter(file -> file.toString().endsWith(".java"))
                    .toList();
            if (!sources.isEmpty()) {
                signatures.read(sources);
            }
        }
        assertThat(signatures.findings())
                .as("public signatures of supported types that name a type of an internal package")
                .isEmpty();
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            value = {
                "public class A { public B b; }                         | A.b: x.internal",
                "public class A { protected void b(B one) {} }          | A.b: x.internal",
                "public class A { public java.util.List<B> b() { return null; } } | A.b: x.internal",
                "public class A { public x.internal.C b() { return null; } } | A.b: x.internal",
                "public class A { public static class D extends B {} }  | A.D: x.internal",
                "public interface A { B b(); }                          | A.b: x.internal",
                "public record A(B b) {}                                | A.b: x.internal",
                "public class A { B b; private B c; void d(B one) {} }  | ''",
                "public class A { static class D extends B {} }         | ''",
                "class A extends B {}                                   | ''"
            })
    void internalTypesInSignaturesAreFound(String type, String finding) throws IOException {
        SupportedSignatures signatures = new SupportedSignatures(List.of("x.internal"));
        signatures.read(new SimpleJavaFileObject(URI.create("string:///A.java"), Kind.SOURCE) {
            @Override
            public CharSequence getCharContent(boolean lenient) {
                return "package x; import x.internal.B; " + type;
            }
        });
        assertThat(String.join(", ", signatures.findings())).isEqualTo(finding);
    }

    /** Applications copy from them. */
    @Test
    void sampleAndExamplesUseSupportedPackagesOnly() {
        Set<String> internal = new TreeSet<>();
        for (String folder : List.of("sample-app", "examples")) {
            for (Path file : files(ROOT.resolve(folder))) {
                if (isMainCode(file)) {
                    IMPORT.matcher(read(file))
                            .results()
                            .filter(imported -> internalPackages().contains(imported.group(1)))
                            .forEach(imported -> internal.add(ROOT.relativize(file) + ": " + imported.group()));
                }
            }
        }
        assertThat(internal).as("imports of internal packages").isEmpty();
    }

    private static boolean isMainCode(Path file) {
        String path = file.toString().replace(File.separatorChar, '/');
        return path.contains("/src/main/") && (path.endsWith(".java") || path.endsWith(".kt"));
    }

    /** The packages of a module with the text of their package-info. */
    private static Map<String, String> packages(String module) {
        Path sources = ROOT.resolve(module).resolve("src/main/java");
        Map<String, String> packages = new HashMap<>();
        files(sources).stream()
                .filter(file -> file.endsWith("package-info.java"))
                .forEach(file -> packages.put(
                        sources.relativize(file.getParent()).toString().replace(File.separatorChar, '.'), read(file)));
        return packages;
    }
}
