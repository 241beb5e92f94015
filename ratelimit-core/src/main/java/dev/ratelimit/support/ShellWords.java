package dev.ratelimit.support;

import java.util.ArrayList;
import java.util.List;

/**
 * The words of a shell command, with quotes and backslashes as in POSIX, and {@code $'…'}. Nothing is expanded: {@code $} and backticks
 * are text.
 */
public final class ShellWords {

    private final String line;
    private final List<String> words = new ArrayList<>();
    private final StringBuilder word = new StringBuilder();
    private boolean inWord;
    private int at;

    private ShellWords(String line) {
        this.line = line;
    }

    /**
     * @throws IllegalArgumentException if a quote is not closed
     */
    public static List<String> of(String line) {
        return new ShellWords(line).split();
    }

    private List<String> split() {
        while (at < line.length()) {
            char letter = line.charAt(at++);
            if (Character.isWhitespace(letter)) {
                endWord();
            } else {
                append(letter);
            }
        }
        endWord();
        return words;
    }

    private void endWord() {
        if (inWord) {
            words.add(word.toString());
            word.setLength(0);
            inWord = false;
        }
    }

    private void append(char letter) {
        if (letter == '\\') {
            appendEscaped();
            return;
        }
        inWord = true;
        if (letter == '$' && at < line.length() && line.charAt(at) == '\'') {
            // Browsers copy values that hold a quote like this.
            at++;
            appendUntil('\'', true);
        } else if (letter == '\'') {
            appendUntil('\'', false);
        } else if (letter == '"') {
            appendUntil('"', true);
        } else {
            word.append(letter);
        }
    }

    /** A backslash at the end of a line joins it with the next. */
    private void appendEscaped() {
        if (at < line.length() && line.charAt(at) == '\r') {
            at++;
        }
        if (at < line.length()) {
            char escaped = line.charAt(at++);
            if (escaped != '\n') {
                inWord = true;
                word.append(escaped);
            }
        }
    }

    private void appendUntil(char quote, boolean backslashEscapes) {
        while (at < line.length()) {
            char letter = line.charAt(at++);
            if (letter == quote) {
                return;
            }
            if (backslashEscapes
                    && letter == '\\'
                    && at < line.length()
                    && (line.charAt(at) == quote || "\\$`\n".indexOf(line.charAt(at)) >= 0)) {
                letter = line.charAt(at++);
                if (letter == '\n') {
                    continue;
                }
            }
            word.append(letter);
        }
        throw new IllegalArgumentException("the quote " + quote + " is not closed; paste the whole command line");
    }
}
