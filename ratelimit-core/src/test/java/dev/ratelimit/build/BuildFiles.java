package dev.ratelimit.build;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import javax.xml.parsers.DocumentBuilderFactory;
import org.w3c.dom.Element;

/** The files of this project as the tests of the build read them: its root, the POMs and their elements. */
final class BuildFiles {
    static final Path ROOT = root();
    static final String GROUP = "dev.ratelimit";
    static final String BOM = "ratelimit-bom";

    private BuildFiles() {}

    static List<String> modules() {
        return children(child(pom("."), "modules"), "module")
                .map(Element::getTextContent)
                .toList();
    }

    static List<String> modulesWithCode() {
        return modules().stream().filter(module -> !module.equals(BOM)).toList();
    }

    static List<String> publishedModules() {
        return modulesWithCode().stream()
                .filter(module -> children(pom(module), "properties")
                        .anyMatch(properties ->
                                text(properties, "maven.deploy.skip").equals("false")))
                .toList();
    }

    /** Packages that are public for other modules only. */
    static List<String> internalPackages() {
        return List.of(mavenProperties().get("internal.packages").split(";"));
    }

    static Map<String, String> mavenProperties() {
        Map<String, String> properties = new HashMap<>();
        children(child(pom("."), "properties"), null)
                .forEach(property -> properties.put(property.getTagName(), property.getTextContent()));
        return properties;
    }

    /** The value of a version that names a property. */
    static String resolve(String version) {
        return version.startsWith("${")
                ? mavenProperties().getOrDefault(version.substring(2, version.length() - 1), version)
                : version;
    }

    static Stream<Element> managed(String module) {
        return children(child(child(pom(module), "dependencyManagement"), "dependencies"), "dependency");
    }

    static String coordinates(Element dependency) {
        return text(dependency, "groupId") + ":" + text(dependency, "artifactId");
    }

    static boolean isOurs(String coordinates) {
        return coordinates.startsWith(GROUP + ":");
    }

    // Files

    static String read(String file) {
        return read(ROOT.resolve(file));
    }

    static String read(Path file) {
        try {
            return Files.readString(file);
        } catch (IOException e) {
            throw new AssertionError("Cannot read " + file, e);
        }
    }

    /** All files below a directory; none if it does not exist. */
    static List<Path> files(Path directory) {
        return files(directory, Integer.MAX_VALUE);
    }

    private static List<Path> files(Path directory, int depth) {
        if (Files.notExists(directory)) {
            return List.of();
        }
        try (Stream<Path> files = Files.walk(directory, depth)) {
            return files.filter(Files::isRegularFile).sorted().toList();
        } catch (IOException e) {
            throw new AssertionError("Cannot list " + directory, e);
        }
    }

    /** The pages in Markdown: of the project, of its modules, and below docs. */
    static List<Path> pages() {
        Stream<Path> places = Stream.concat(Stream.of(ROOT), modules().stream().map(ROOT::resolve));
        Stream<Path> below = Stream.of("docs", ".github").flatMap(name -> files(ROOT.resolve(name)).stream());
        return Stream.concat(places.flatMap(directory -> files(directory, 1).stream()), below)
                .filter(file -> file.toString().endsWith(".md"))
                .toList();
    }

    static Element pom(String module) {
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

    static Element child(Element parent, String name) {
        return children(parent, name)
                .findFirst()
                .orElseThrow(() -> new AssertionError("No <" + name + "> in <" + parent.getTagName() + ">"));
    }

    static String text(Element parent, String name) {
        return children(parent, name).findFirst().map(Element::getTextContent).orElse("");
    }

    /** The child elements with a name, or all of them without one. */
    static Stream<Element> children(Element parent, String name) {
        var nodes = parent.getChildNodes();
        return IntStream.range(0, nodes.getLength())
                .mapToObj(nodes::item)
                .filter(Element.class::isInstance)
                .map(Element.class::cast)
                .filter(element -> name == null || element.getTagName().equals(name));
    }

    private static Path root() {
        Path start = Path.of(System.getProperty("user.dir")).toAbsolutePath();
        for (Path directory = start; directory != null; directory = directory.getParent()) {
            if (Files.exists(directory.resolve("settings.gradle.kts"))) {
                return directory;
            }
        }
        throw new AssertionError("No settings.gradle.kts in " + start + " or above it");
    }
}
