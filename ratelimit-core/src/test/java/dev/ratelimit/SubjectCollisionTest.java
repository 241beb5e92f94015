package dev.ratelimit;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.ByteBuffer;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.text.Normalizer;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.SplittableRandom;
import java.util.function.Consumer;
import org.junit.jupiter.api.Test;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Two different tuples never give the same text, and the same tuple always gives the same.
 *
 * <p>Texts and tuples are counted by 64 bits of a digest of each, which takes 16 bytes a tuple; that ten million
 * tuples seem to collide and do not happens about once in 300,000 runs, and the failure says so.
 */
class SubjectCollisionTest {

    private static final Logger log = LoggerFactory.getLogger(SubjectCollisionTest.class);

    /** How many random tuples: {@code -Dratelimit.test.tuples=10000000} for the long form. */
    private static final int TUPLES = Integer.getInteger("ratelimit.test.tuples", 300_000);

    private static final List<String> ALPHABET = List.of(":", "+", "%", "~", "|", "/", "a", " ");

    private static final List<String> TYPES = List.of("a", "a-a", "user");

    /** The parts of the text itself, whole and in pieces, and lookalikes. */
    private static final List<String> FRAGMENTS = List.of(
            ":",
            "+",
            "%",
            "~",
            "|",
            "/",
            "a",
            "b",
            "7",
            " ",
            "\t",
            "u",
            "E",
            "%2B",
            "%25",
            "%252B",
            "%7E",
            "%00",
            "%u",
            "%uD800",
            "%uDC00",
            "%C3%A9",
            "%E2%80%8B",
            "+a:",
            "+user:",
            "a:a",
            "\u0000",
            "\n",
            "\u00E9",
            "e",
            "e\u0301",
            "\u0301",
            "\u200B",
            "\u2028",
            "\u00A0",
            "\uD800",
            "\uDC00",
            "😀",
            "'",
            "\"",
            "\\",
            "~47DEQpj8HBSa-_TImW-5JCeuQeRkm5NMpJWZG3hSuFU",
            "a".repeat(100),
            "a".repeat(151),
            "😀".repeat(70));

    /** One part of a tuple. */
    private record Part(String type, String value) {}

    @Test
    void allShortTuplesHaveTextsOfTheirOwn() {
        List<String> upToFive = values(5);
        List<String> upToTwo = values(2);
        List<String> one = values(1);
        check("every tuple of separators", tuples -> {
            for (String type : TYPES) {
                upToFive.forEach(value -> tuples.accept(List.of(new Part(type, value))));
            }
            pairs(upToTwo, upToTwo).forEach(tuples);
            for (List<Part> pair : pairs(one, one)) {
                for (String type : TYPES) {
                    one.forEach(value -> tuples.accept(List.of(pair.get(0), pair.get(1), new Part(type, value))));
                }
            }
        });
    }

    private static List<String> values(int mostLetters) {
        List<String> all = new ArrayList<>();
        List<String> longest = List.of("");
        for (int letters = 1; letters <= mostLetters; letters++) {
            List<String> longer = new ArrayList<>();
            for (String start : longest) {
                ALPHABET.forEach(letter -> longer.add(start + letter));
            }
            all.addAll(longer);
            longest = longer;
        }
        all.removeIf(String::isBlank);
        return all;
    }

    private static List<List<Part>> pairs(List<String> firsts, List<String> seconds) {
        List<List<Part>> pairs = new ArrayList<>();
        for (String type : TYPES) {
            for (String other : TYPES) {
                for (String first : firsts) {
                    seconds.forEach(second -> pairs.add(List.of(new Part(type, first), new Part(other, second))));
                }
            }
        }
        return pairs;
    }

    @Test
    void randomTuplesHaveTextsOfTheirOwn() {
        long seed = Long.getLong("ratelimit.test.seed", System.nanoTime());
        check(TUPLES + " random tuples, -Dratelimit.test.seed=" + seed, tuples -> {
            SplittableRandom random = new SplittableRandom(seed);
            for (int i = 0; i < TUPLES; i++) {
                tuples.accept(randomTuple(random));
            }
        });
    }

    private static List<Part> randomTuple(SplittableRandom random) {
        List<Part> tuple = new ArrayList<>(3);
        for (int parts = random.nextInt(1, 4); parts > 0; parts--) {
            StringBuilder value = new StringBuilder();
            while (value.toString().isBlank()) {
                for (int fragments = random.nextInt(1, 7); fragments > 0; fragments--) {
                    value.append(FRAGMENTS.get(random.nextInt(FRAGMENTS.size())));
                }
            }
            tuple.add(new Part(TYPES.get(random.nextInt(TYPES.size())), value.toString()));
        }
        return tuple;
    }

    /** Something that gives the same tuples in the same order, each time that it is asked. */
    private interface Tuples {
        void forEach(Consumer<List<Part>> action);
    }

    private static void check(String what, Tuples tuples) {
        Digests texts = new Digests();
        Digests meanings = new Digests();
        int[] longest = {0};
        tuples.forEach(tuple -> {
            String text = text(tuple);
            longest[0] = Math.max(longest[0], text.length());
            texts.add(text);
            meanings.add(meaning(tuple));
        });
        long different = meanings.distinct();
        log.info(
                "{}: {} tuples, {} of them different, texts of up to {} characters",
                what,
                texts.size(),
                different,
                longest[0]);

        assertThat(longest[0]).isLessThanOrEqualTo(Subject.MOST_CHARACTERS);
        assertThat(different).as("tuples that differ, of " + what).isGreaterThan(texts.size() / 4);
        if (texts.distinct() != different) {
            throw new AssertionError(what + ": " + different + " different tuples have " + texts.distinct()
                    + " different texts; " + firstMistake(tuples));
        }
    }

    private static String firstMistake(Tuples tuples) {
        Map<String, String> meaningOfText = new HashMap<>();
        Map<String, String> textOfMeaning = new HashMap<>();
        List<String> mistakes = new ArrayList<>();
        tuples.forEach(tuple -> {
            String text = text(tuple);
            String meaning = meaning(tuple);
            String otherMeaning = meaningOfText.putIfAbsent(text, meaning);
            String otherText = textOfMeaning.putIfAbsent(meaning, text);
            if (mistakes.isEmpty() && otherMeaning != null && !otherMeaning.equals(meaning)) {
                mistakes.add("'" + text + "' is the text of both " + otherMeaning + " and " + meaning);
            }
            if (mistakes.isEmpty() && otherText != null && !otherText.equals(text)) {
                mistakes.add(meaning + " has both texts '" + otherText + "' and '" + text + "'");
            }
        });
        return mistakes.isEmpty() ? "but only their digests collide: run again" : mistakes.get(0);
    }

    private static String text(List<Part> tuple) {
        Subject subject = null;
        for (Part part : tuple) {
            subject = subject == null ? Subject.of(part.type(), part.value()) : subject.and(part.type(), part.value());
        }
        return subject.text();
    }

    /** The meaning of the tuple, in a form that needs no escaping: each value is preceded by its length. */
    private static String meaning(List<Part> tuple) {
        StringBuilder meaning = new StringBuilder();
        for (Part part : tuple) {
            String value = Normalizer.normalize(part.value().strip(), Normalizer.Form.NFC);
            meaning.append(part.type()).append(' ').append(value.length()).append(' ');
            meaning.append(value).append(' ');
        }
        return meaning.toString();
    }

    /** 64 bits of a digest of each text. */
    private static final class Digests {

        private final MessageDigest digest = sha256();
        private ByteBuffer bytes = ByteBuffer.allocate(1_024);
        private long[] digests = new long[1_024];
        private int size;

        void add(String text) {
            if (bytes.capacity() < 2 * text.length()) {
                bytes = ByteBuffer.allocate(4 * text.length());
            }
            bytes.clear();
            // not UTF-8, which does not tell lone surrogates apart
            bytes.asCharBuffer().put(text);
            digest.update(bytes.array(), 0, 2 * text.length());
            if (size == digests.length) {
                digests = Arrays.copyOf(digests, size + size / 2);
            }
            digests[size++] = ByteBuffer.wrap(digest.digest()).getLong();
        }

        int size() {
            return size;
        }

        /** How many are different. Sorts them. */
        long distinct() {
            Arrays.sort(digests, 0, size);
            long distinct = size == 0 ? 0 : 1;
            for (int i = 1; i < size; i++) {
                if (digests[i] != digests[i - 1]) {
                    distinct++;
                }
            }
            return distinct;
        }

        private static MessageDigest sha256() {
            try {
                return MessageDigest.getInstance("SHA-256");
            } catch (NoSuchAlgorithmException e) {
                throw new IllegalStateException(e);
            }
        }
    }
}
