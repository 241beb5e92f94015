package dev.ratelimit.support;

import java.util.Collection;
import java.util.Locale;
import org.jspecify.annotations.Nullable;

/** Finds the word that was probably meant. */
public final class Spelling {

    /** Shorter words are part of too many others. */
    private static final int SHORTEST_PART = 4;

    /** Shorter words are too much like others. */
    private static final int SHORTEST_SLIP = 5;

    private Spelling() {}

    /**
     * The known word that is most like the given one, or that it is a part of; {@code null} if none is. Case makes no
     * difference, nor whether words are joined by a hyphen, an underscore or nothing.
     */
    public static @Nullable String nearest(String word, Collection<String> known) {
        String plain = plain(word);
        String nearest = null;
        int least = Math.max(1, plain.length() / 3) + 1;
        for (String candidate : known) {
            int distance = distance(plain, plain(candidate));
            if (distance < least) {
                least = distance;
                nearest = candidate;
            }
        }
        return nearest != null || plain.length() < SHORTEST_PART
                ? nearest
                : known.stream()
                        .filter(candidate -> plain(candidate).contains(plain))
                        .findFirst()
                        .orElse(null);
    }

    /**
     * The known word that the given one is a slip of the pen for: it differs by case or by one letter. {@code null} if there is
     * none. Short words that differ by a letter, and a plural, may well be other words.
     */
    public static @Nullable String slip(String word, Collection<String> known) {
        for (String candidate : known) {
            boolean isOtherWord =
                    candidate.length() < SHORTEST_SLIP || word.equals(candidate + "s") || candidate.equals(word + "s");
            if (word.equalsIgnoreCase(candidate) || (!isOtherWord && distance(plain(word), plain(candidate)) <= 1)) {
                return candidate;
            }
        }
        return null;
    }

    private static String plain(String word) {
        return word.toLowerCase(Locale.ROOT).replace("-", "").replace("_", "");
    }

    /** How many letters have to be added, left out, replaced or swapped with their neighbour. */
    private static int distance(String from, String to) {
        int[] beforeLast = new int[to.length() + 1];
        int[] last = new int[to.length() + 1];
        for (int j = 0; j <= to.length(); j++) {
            last[j] = j;
        }
        for (int i = 1; i <= from.length(); i++) {
            int[] current = new int[to.length() + 1];
            current[0] = i;
            for (int j = 1; j <= to.length(); j++) {
                int replaced = last[j - 1] + (from.charAt(i - 1) == to.charAt(j - 1) ? 0 : 1);
                current[j] = Math.min(replaced, Math.min(last[j], current[j - 1]) + 1);
                if (i > 1
                        && j > 1
                        && from.charAt(i - 1) == to.charAt(j - 2)
                        && from.charAt(i - 2) == to.charAt(j - 1)) {
                    current[j] = Math.min(current[j], beforeLast[j - 2] + 1);
                }
            }
            beforeLast = last;
            last = current;
        }
        return last[to.length()];
    }
}
