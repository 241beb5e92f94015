package dev.ratelimit.build;

import static dev.ratelimit.build.BuildFiles.ROOT;
import static dev.ratelimit.build.BuildFiles.files;
import static dev.ratelimit.build.BuildFiles.modules;
import static dev.ratelimit.build.BuildFiles.pages;
import static dev.ratelimit.build.BuildFiles.read;
import static org.assertj.core.api.Assertions.assertThat;

import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.regex.Pattern;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.MethodSource;

/** Holds pages, javadoc, comments and messages to the rules for plain English in CONTRIBUTING.md. */
class PlainEnglishTest {
    private static final int MAX_WORDS = 25;

    /** Phrases that readers stumble over, with the usual words for them. */
    private static final Map<String, String> PLAIN_WORDS = Map.of(
            "whoever", "the caller, the user, the reader …",
            "be had", "be available, be read",
            "be told", "get, learn, see",
            "got around", "bypassed",
            "(says?|said) of", "describes, lists",
            "cannot be right", "is invalid",
            "one's own", "custom, separate",
            "what who", "what the caller");

    /** A sentence that begins with these words has no subject that a reader can see, unless it is a question. */
    private static final Pattern HEADLESS = Pattern.compile("(What|Who|Whoever|Whatever)\\b.*[^?]");

    /** A row of a table of settings, on a page. */
    private static final Pattern CHOICE = Pattern.compile("What to do\\b.*");

    /** Javadoc that begins with these words leaves out its noun. Within a text they may refer to the sentence before. */
    private static final Pattern WITHOUT_NOUN = Pattern.compile("(Of|Those|That|So)\\b.*");

    private static final Pattern DISPLAY_NAME = Pattern.compile("@DisplayName\\(\\s*\"([^\"]*)\"");

    private static final Pattern JAVADOC = Pattern.compile("/\\*\\*(.*?)\\*/", Pattern.DOTALL);

    /** The message of an exception or of the log, not one letter and not a key. */
    private static final Pattern MESSAGE = Pattern.compile("\"((?:[^\"\\\\\n]|\\\\.)* (?:[^\"\\\\\n]|\\\\.)*)\"");

    /** The part of a page that the benchmarks write. */
    private static final Pattern MEASURED =
            Pattern.compile("<!-- measured: begin -->.*?<!-- measured: end -->", Pattern.DOTALL);

    @ParameterizedTest
    @MethodSource("dev.ratelimit.build.BuildFiles#pages")
    void pagesArePlain(Path page) {
        String text = MEASURED.matcher(read(page)).replaceAll("");
        List<String> findings = bannedPhrases(text);
        for (String sentence : Sentences.ofMarkdown(text)) {
            if (HEADLESS.matcher(sentence).matches()
                    && !CHOICE.matcher(sentence).matches()) {
                findings.add("begin with a noun: " + sentence);
            }
            if (Sentences.words(sentence) > MAX_WORDS) {
                findings.add("more than " + MAX_WORDS + " words; make two sentences: " + sentence);
            }
        }
        assertThat(findings)
                .as("sentences to rewrite in " + ROOT.relativize(page))
                .isEmpty();
    }

    @ParameterizedTest
    @MethodSource("sources")
    void sourcesArePlain(Path source) {
        String text = read(source);
        List<String> findings = bannedPhrases(text);
        if (source.toString().endsWith(".java")) {
            findings.addAll(headless(text, JAVADOC, HEADLESS));
            findings.addAll(headless(text, JAVADOC, WITHOUT_NOUN));
            findings.addAll(headless(text, MESSAGE, HEADLESS));
        }
        assertThat(findings)
                .as("sentences to rewrite in " + ROOT.relativize(source))
                .isEmpty();
    }

    @Test
    void testsArePlain() {
        List<String> findings = new ArrayList<>();
        List<Path> tests = sources("src/test").stream()
                .filter(source -> source.toString().endsWith(".java"))
                .toList();
        for (Path source : tests) {
            String text = read(source);
            for (Pattern place : List.of(JAVADOC, DISPLAY_NAME)) {
                for (Pattern beginning : List.of(HEADLESS, WITHOUT_NOUN)) {
                    headless(text, place, beginning)
                            .forEach(finding -> findings.add(ROOT.relativize(source) + ": " + finding));
                }
            }
        }
        assertThat(tests).hasSizeGreaterThan(200);
        assertThat(findings).as("sentences to rewrite").isEmpty();
    }

    private static List<String> headless(String text, Pattern place, Pattern beginning) {
        return place.matcher(text)
                .results()
                .map(found -> Sentences.withoutMargin(found.group(1)))
                .filter(prose -> beginning.matcher(prose).matches())
                .map(prose -> "begin with a noun: " + prose)
                .toList();
    }

    @Test
    void thereIsSomethingToCheck() {
        assertThat(pages())
                .extracting(page -> ROOT.relativize(page).toString())
                .contains("README.md", "CONTRIBUTING.md");
        assertThat(sources()).hasSizeGreaterThan(200);
        assertThat(headless("/" + "** Of nobody anything is known. */", JAVADOC, WITHOUT_NOUN))
                .hasSize(1);
        assertThat(headless("@DisplayName(\"What remains is shown\")", DISPLAY_NAME, HEADLESS))
                .hasSize(1);
    }

    @Test
    void findsPhrasesAcrossLines() {
        assertThat(bannedPhrases("It is for whoever comes first.")).hasSize(1);
        assertThat(bannedPhrases("if no decision can be\nhad in time")).hasSize(1);
        assertThat(bannedPhrases("     * if no decision could be\n     * had in time"))
                .hasSize(1);
        assertThat(bannedPhrases("Explain says of every rule whether it cannot be right"))
                .hasSize(2);
        assertThat(bannedPhrases("It would be hard to be tolder.")).isEmpty();
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            value = {
                "What is stored gives no policy. | true",
                "Who decides wakes eight.        | true",
                "What would you change?          | false",
                "What to do when it is down.     | true",
                "Whole numbers.                  | false"
            })
    void tellsHeadlessSentences(String sentence, boolean headless) {
        assertThat(HEADLESS.matcher(sentence).matches()).isEqualTo(headless);
    }

    private static List<String> bannedPhrases(String text) {
        String prose = Sentences.withoutMargin(text);
        List<String> findings = new ArrayList<>();
        PLAIN_WORDS.forEach((phrase, plain) -> Pattern.compile("\\b" + phrase + "\\b", Pattern.CASE_INSENSITIVE)
                .matcher(prose)
                .results()
                .forEach(found -> findings.add("write " + plain + ": "
                        + prose.substring(
                                Math.max(0, found.start() - 40), Math.min(prose.length(), found.end() + 20)))));
        return findings;
    }

    private static List<Path> sources() {
        return sources("src/main");
    }

    private static List<Path> sources(String folder) {
        return modules().stream()
                .flatMap(module -> files(ROOT.resolve(module).resolve(folder)).stream())
                .filter(file -> file.toString().matches(".*\\.(java|sql|json|ya?ml|properties|html|js|md)"))
                .toList();
    }
}
