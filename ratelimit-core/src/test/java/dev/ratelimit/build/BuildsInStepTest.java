package dev.ratelimit.build;

import static dev.ratelimit.build.BuildFiles.BOM;
import static dev.ratelimit.build.BuildFiles.GROUP;
import static dev.ratelimit.build.BuildFiles.child;
import static dev.ratelimit.build.BuildFiles.children;
import static dev.ratelimit.build.BuildFiles.coordinates;
import static dev.ratelimit.build.BuildFiles.internalPackages;
import static dev.ratelimit.build.BuildFiles.isOurs;
import static dev.ratelimit.build.BuildFiles.managed;
import static dev.ratelimit.build.BuildFiles.mavenProperties;
import static dev.ratelimit.build.BuildFiles.modules;
import static dev.ratelimit.build.BuildFiles.pom;
import static dev.ratelimit.build.BuildFiles.publishedModules;
import static dev.ratelimit.build.BuildFiles.read;
import static dev.ratelimit.build.BuildFiles.resolve;
import static dev.ratelimit.build.BuildFiles.text;
import static org.assertj.core.api.Assertions.assertThat;

import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import java.util.regex.MatchResult;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;
import org.w3c.dom.Element;

/**
 * Holds the Maven and the Gradle build equal: modules, versions, dependencies and the published jars.
 *
 * <p>A dependency is compared as a line {@code use group:artifact[:version]}, where the use is one of {@code main},
 * {@code optional}, {@code runtime}, {@code test}, {@code processor}; a version is there only when no imported BOM gives it. Gradle needs
 * two lines for what Maven calls optional, {@code compileOnly} and {@code testImplementation}, since its tests do not
 * inherit {@code compileOnly}.
 */
class BuildsInStepTest {
    /** Dependencies that only the Gradle build has to name: Surefire brings the launcher along by itself. */
    private static final Set<String> GRADLE_ONLY = Set.of("test org.junit.platform:junit-platform-launcher");

    /** One per line: configuration, optional platform or project, coordinates. */
    private static final Pattern GRADLE_DEPENDENCY =
            Pattern.compile("(?m)^\\s*\"?(\\w+)\"?\\((platform\\(|project\\()?\"([^\"]*:[^\"]*)\"\\)");

    @Test
    void sameModules() {
        assertThat(gradleModules())
                .as("modules in settings.gradle.kts, compared with <modules> in pom.xml")
                .containsExactlyInAnyOrderElementsOf(modules());
    }

    @Test
    void sameProjectVersionAndGroup() {
        assertThat(gradleValue("version = \"([^\"]+)\""))
                .as("version in build.gradle.kts, compared with pom.xml")
                .isEqualTo(text(pom("."), "version"));
        assertThat(gradleValue("group = \"([^\"]+)\""))
                .as("group in build.gradle.kts, compared with pom.xml")
                .isEqualTo(text(pom("."), "groupId"));
    }

    @Test
    void sameJavaRelease() {
        assertThat(gradleValue("options\\.release\\.set\\((\\d+)\\)"))
                .as("options.release in build.gradle.kts, compared with <maven.compiler.release> in pom.xml")
                .isEqualTo(mavenProperties().get("maven.compiler.release"));
    }

    @Test
    void sameImportedBoms() {
        Set<String> maven = new TreeSet<>();
        managed(".")
                .filter(dependency -> text(dependency, "scope").equals("import"))
                .filter(bom -> !isOurs(coordinates(bom)))
                .forEach(bom -> maven.add(coordinates(bom) + ":" + resolve(text(bom, "version"))));

        Set<String> gradle = new TreeSet<>();
        Stream.concat(Stream.of("."), modules().stream())
                .flatMap(module -> gradleDependencies(module).stream())
                .filter(declared ->
                        declared.group(2) != null && declared.group(2).startsWith("platform"))
                .forEach(bom -> gradle.add(bom.group(3)
                        .replace("$springBootVersion", gradleValue("springBootVersion.*getOrElse\\(\"([^\"]+)\"\\)"))));

        assertThat(gradle)
                .as("platform(...) in the build.gradle.kts files, compared with the imported BOMs in pom.xml")
                .isEqualTo(maven);
    }

    @ParameterizedTest
    @MethodSource("dev.ratelimit.build.BuildFiles#modulesWithCode")
    void sameDependencies(String module) {
        Set<String> maven = mavenUses(module);
        Set<String> gradle = gradleUses(module);

        List<String> differences = new ArrayList<>();
        maven.stream()
                .filter(use -> !gradle.contains(use))
                .forEach(use -> differences.add("missing in " + module + "/build.gradle.kts: " + use));
        gradle.stream()
                .filter(use -> !maven.contains(use))
                .forEach(use -> differences.add("missing in " + module + "/pom.xml: " + use));
        assertThat(differences)
                .as("differences between the Maven and the Gradle build of " + module)
                .isEmpty();
    }

    @Test
    void samePublishedModules() {
        String gradle = gradleValue("publishedModules = setOf\\(([^)]+)\\)").replace("\"", "");
        assertThat(gradle.split(",\\s*"))
                .as("publishedModules in build.gradle.kts, compared with <maven.deploy.skip>false in the modules")
                .containsExactlyInAnyOrderElementsOf(publishedModules());
    }

    @Test
    void sameModulesInTheBom() {
        Set<String> maven = new TreeSet<>();
        managed(BOM).forEach(module -> maven.add("main " + coordinates(module)));
        assertThat(gradleUses(BOM))
                .as("constraints in ratelimit-bom/build.gradle.kts, compared with ratelimit-bom/pom.xml")
                .isEqualTo(maven);
    }

    /** The Gradle build makes this name from that of the module. */
    @ParameterizedTest
    @MethodSource("dev.ratelimit.build.BuildFiles#publishedModules")
    void sameNameOnTheModulePath(String module) {
        assertThat(text(child(pom(module), "properties"), "automatic.module.name"))
                .as("<automatic.module.name> in " + module + "/pom.xml")
                .isEqualTo(GROUP + "." + module.replaceFirst("^ratelimit-", "").replace('-', '.'));
    }

    @Test
    void samePackagesWithoutJavadoc() {
        assertThat(internalPackages())
                .as("<internal.packages> in pom.xml, compared with the exclusions of javadoc in build.gradle.kts")
                .allMatch(name -> read("build.gradle.kts").contains("exclude(\"" + name.replace('.', '/') + "/**\")"));
    }

    // Maven

    private static Set<String> mavenUses(String module) {
        Map<String, String> managedVersions = new HashMap<>();
        managed(".").forEach(managed -> managedVersions.put(coordinates(managed), text(managed, "version")));

        Set<String> uses = new TreeSet<>();
        children(child(pom(module), "dependencies"), "dependency").forEach(dependency -> {
            String scope = text(dependency, "scope");
            String use;
            if (text(dependency, "optional").equals("true")) {
                use = "optional";
            } else if (scope.isEmpty() || scope.equals("compile")) {
                use = "main";
            } else {
                use = scope;
            }
            String coordinates = coordinates(dependency);
            String version = text(dependency, "version");
            if (version.isEmpty()) {
                version = managedVersions.getOrDefault(coordinates, "");
            }
            boolean bare = version.isEmpty() || isOurs(coordinates);
            uses.add(use + " " + coordinates + (bare ? "" : ":" + resolve(version)));
        });
        // Those of the parent check our own code; Gradle only compiles it.
        var processors = pom(module).getElementsByTagName("annotationProcessorPaths");
        for (int i = 0; i < processors.getLength(); i++) {
            children((Element) processors.item(i), "path").forEach(path -> {
                boolean ofBom = text(path, "version").equals("${spring-boot.version}");
                uses.add("processor " + coordinates(path) + (ofBom ? "" : ":" + resolve(text(path, "version"))));
            });
        }
        return uses;
    }

    // Gradle

    private static List<String> gradleModules() {
        return Pattern.compile("include\\(\"([^\"]+)\"\\)")
                .matcher(read("settings.gradle.kts"))
                .results()
                .map(include -> include.group(1).replace(':', '/'))
                .toList();
    }

    private static List<MatchResult> gradleDependencies(String module) {
        return GRADLE_DEPENDENCY
                .matcher(read(module + "/build.gradle.kts"))
                .results()
                .toList();
    }

    private static Set<String> gradleUses(String module) {
        Map<String, Set<String>> configurations = new HashMap<>();
        for (String place : List.of(".", module)) {
            for (MatchResult declared : gradleDependencies(place)) {
                if (declared.group(2) == null) {
                    add(configurations, declared.group(3), declared.group(1));
                } else if (declared.group(2).startsWith("project")) {
                    add(configurations, GROUP + declared.group(3), declared.group(1));
                }
            }
        }
        Set<String> uses = new TreeSet<>();
        configurations.forEach((coordinates, in) -> uses.add(use(in) + " " + coordinates));
        uses.removeAll(GRADLE_ONLY);
        return uses;
    }

    private static void add(Map<String, Set<String>> configurations, String coordinates, String configuration) {
        configurations.computeIfAbsent(coordinates, unused -> new TreeSet<>()).add(configuration);
    }

    private static String use(Set<String> configurations) {
        if (configurations.equals(Set.of("compileOnly", "testImplementation"))) {
            return "optional";
        }
        if (configurations.size() > 1) {
            return String.join("+", configurations);
        }
        return switch (configurations.iterator().next()) {
            case "api", "implementation" -> "main";
            case "runtimeOnly" -> "runtime";
            case "annotationProcessor" -> "processor";
            case "testImplementation", "testRuntimeOnly" -> "test";
            default -> String.join("+", configurations);
        };
    }

    private static String gradleValue(String pattern) {
        return Pattern.compile(pattern)
                .matcher(read("build.gradle.kts"))
                .results()
                .map(found -> found.group(1))
                .findFirst()
                .orElseThrow(() -> new AssertionError("Nothing in build.gradle.kts matches " + pattern));
    }
}
