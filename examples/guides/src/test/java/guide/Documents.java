package guide;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.regex.MatchResult;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;

/** The documents of this project, and the code in them. */
final class Documents {

    static final Path ROOT = root();

    /** A comment before a block of code names its source: a file, and the regions of the file if it is not all of it. */
    private static final Pattern SNIPPET =
            Pattern.compile("(?ms)^(?:<!-- from ([^\\s#]+)(?:#(\\S+))? -->\\n)?```(\\w+)\\n(.*?)^```$");

    private Documents() {}

    /**
     * A block of code.
     *
     * @param source the file it comes from, or {@code null}
     * @param regions the regions of that file, or {@code null} for all of it
     */
    record Snippet(Path document, int line, String source, String regions, String language, String code) {

        @Override
        public String toString() {
            return ROOT.relativize(document) + ":" + line + " (" + language + ")";
        }
    }

    private static Path root() {
        Path directory = Path.of("").toAbsolutePath();
        while (!Files.exists(directory.resolve("settings.gradle.kts"))) {
            directory = directory.getParent();
        }
        return directory;
    }

    static List<Path> all() {
        try (Stream<Path> docs = Files.walk(ROOT.resolve("docs"))) {
            return Stream.concat(Stream.of(ROOT.resolve("README.md")), docs)
                    .filter(path -> path.toString().endsWith(".md"))
                    .sorted()
                    .toList();
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    static List<Snippet> snippets() {
        List<Snippet> snippets = new ArrayList<>();
        for (Path document : all()) {
            String text = read(document);
            Matcher matcher = SNIPPET.matcher(text);
            while (matcher.find()) {
                snippets.add(snippet(document, text, matcher));
            }
        }
        return snippets;
    }

    private static Snippet snippet(Path document, String text, MatchResult found) {
        int line = (int) text.substring(0, found.start()).lines().count() + 1;
        return new Snippet(document, line, found.group(1), found.group(2), found.group(3), found.group(4));
    }

    /** Copies the code of all snippets with a source into the documents. */
    static void update() throws IOException {
        for (Path document : all()) {
            String text = read(document);
            String updated = SNIPPET.matcher(text).replaceAll(found -> {
                Snippet snippet = snippet(document, text, found);
                String whole = found.group();
                return Matcher.quoteReplacement(
                        snippet.source() == null
                                ? whole
                                : whole.substring(0, found.start(4) - found.start()) + code(snippet) + "```");
            });
            if (!updated.equals(text)) {
                Files.writeString(document, updated);
            }
        }
    }

    /** The code that a snippet should have. */
    static String code(Snippet snippet) {
        String text = read(ROOT.resolve(snippet.source()));
        if (snippet.regions() == null) {
            return text;
        }
        List<String> parts = new ArrayList<>();
        for (String region : snippet.regions().split(",")) {
            parts.add(region(text, region, snippet));
        }
        return String.join("\n", parts);
    }

    private static String region(String text, String name, Snippet snippet) {
        Matcher matcher = Pattern.compile(
                        "(?ms)^\\h*(?://|--|#) region " + Pattern.quote(name) + "\\n(.*?)^\\h*(?://|--|#) endregion$")
                .matcher(text);
        if (!matcher.find()) {
            throw new AssertionError(snippet + ": " + snippet.source() + " has no region " + name);
        }
        return matcher.group(1).stripTrailing().stripIndent() + "\n";
    }

    static String read(Path path) {
        try {
            return Files.readString(path);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }
}
