package dev.ratelimit.build;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import java.util.regex.MatchResult;
import java.util.regex.Pattern;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import javax.xml.parsers.DocumentBuilderFactory;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;
import org.w3c.dom.Element;

/**
 * Holds the Maven and the Gradle build equal: modules, versions and dependencies.
 *
 * <p>A dependency is compared as a line {@code use group:artifact[:version]}, where the use is one of {@code main},
 * {@code optional}, {@code runtime}, {@code test}, {@code processor}; a version is there only when no imported BOM gives it. Gradle needs
 * two lines for what Maven calls optional, {@code compileOnly} and {@code testImplementation}, since its tests do not
 * inherit {@code compileOnly}.
 */
class BuildsInStepTest {
    private static final Path ROOT = root();
    private static final String GROUP = "dev.ratelimit";

    /** Dependencies that only the Gradle build has to name: Surefire brings the launcher along by itself. */
    private static final Set<String> GRADLE_ONLY = Set.of("test org.junit.platform:junit-platform-launcher");

    /** One per line: configuration, optional platform or project, coordinates. */
    private static final Pattern GRADLE_DEPENDENCY =
            Pattern.compile("(?m)^\\s*\"?(\\w+)\"?\\((platform\\(|project\\()?\"([^\"]*:[^\"]*)\"\\)");

    @Test
    void sameModules() {
        assertThat(gradleModules())
                .as("modules in settings.gradle.kts, compared with <modules> in pom.xml")
                .containsExactlyInAnyOrderElementsOf(mavenModules());
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
        managed()
                .filter(dependency -> text(dependency, "scope").equals("import"))
                .forEach(bom -> maven.add(coordinates(bom) + ":" + resolve(text(bom, "version"))));

        Set<String> gradle = new TreeSet<>();
        Stream.concat(Stream.of("."), mavenModules().stream())
                .flatMap(module -> gradleDependencies(module).stream())
                .filter(declared ->
                        declared.group(2) != null && declared.group(2).startsWith("platform"))
                .forEach(bom -> gradle.add(bom.group(3)
                        .replace("$springBootVersion", gradleValue("val springBootVersion = \"([^\"]+)\""))));

        assertThat(gradle)
                .as("platform(...) in the build.gradle.kts files, compared with the imported BOMs in pom.xml")
                .isEqualTo(maven);
    }

    @ParameterizedTest
    @MethodSource("mavenModules")
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

    // Maven

    static List<String> mavenModules() {
        return children(child(pom("."), "modules"), "module")
                .map(Element::getTextContent)
                .toList();
    }

    private static Set<String> mavenUses(String module) {
        Map<String, String> managedVersions = new HashMap<>();
        managed().forEach(managed -> managedVersions.put(coordinates(managed), text(managed, "version")));

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
            boolean ours = coordinates.startsWith(GROUP + ":");
            uses.add(use + " " + coordinates + (version.isEmpty() || ours ? "" : ":" + resolve(version)));
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

    private static Stream<Element> managed() {
        return children(child(child(pom("."), "dependencyManagement"), "dependencies"), "dependency");
    }

    private static Map<String, String> mavenProperties() {
        Map<String, String> properties = new HashMap<>();
        children(child(pom("."), "properties"), null)
                .forEach(property -> properties.put(property.getTagName(), property.getTextContent()));
        return properties;
    }

    private static String resolve(String version) {
        return version.startsWith("${")
                ? mavenProperties().getOrDefault(version.substring(2, version.length() - 1), version)
                : version;
    }

    private static String coordinates(Element dependency) {
        return text(dependency, "groupId") + ":" + text(dependency, "artifactId");
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

    // Files

    private static Path root() {
        Path start = Path.of(System.getProperty("user.dir")).toAbsolutePath();
        for (Path directory = start; directory != null; directory = directory.getParent()) {
            if (Files.exists(directory.resolve("settings.gradle.kts"))) {
                return directory;
            }
        }
        throw new AssertionError("No settings.gradle.kts in " + start + " or above it");
    }

    private static String read(String file) {
        try {
            return Files.readString(ROOT.resolve(file));
        } catch (IOException e) {
            throw new AssertionError("Cannot read " + file, e);
        }
    }

    private static Element pom(String module) {
        Path file = ROOT.resolve(module).resolve("pom.xml");
        try {
            return DocumentBuilderFactory.newInstance()
                    .newDocumentBuilder()
                    .parse(file.toFile())
                    .getDocumentElement();
        } catch (Exception e) {
            throw new AssertionError("Cannot read " + file, e);
        }
    }

    private static Element child(Element parent, String name) {
        return children(parent, name)
                .findFirst()
                .orElseThrow(() -> new AssertionError("No <" + name + "> in <" + parent.getTagName() + ">"));
    }

    private static String text(Element parent, String name) {
        return children(parent, name).findFirst().map(Element::getTextContent).orElse("");
    }

    private static Stream<Element> children(Element parent, String name) {
        var nodes = parent.getChildNodes();
        return IntStream.range(0, nodes.getLength())
                .mapToObj(nodes::item)
                .filter(Element.class::isInstance)
                .map(Element.class::cast)
                .filter(element -> name == null || element.getTagName().equals(name));
    }
}
