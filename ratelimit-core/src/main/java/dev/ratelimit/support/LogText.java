package dev.ratelimit.support;

import java.util.Arrays;
import java.util.HexFormat;
import org.jspecify.annotations.Nullable;

/**
 * Makes values of others harmless in log lines: names of users, paths, headers, reasons of operators, messages of databases.
 *
 * <p>Nothing in the result begins a new line, moves the cursor of a terminal, reverses the direction of writing, or is looked up
 * by a logging library ({@code ${…}}). Such characters are written as {@code \\uXXXX}, and so is the backslash before a
 * {@code u}: two different texts stay different. A long text is cut.
 */
public final class LogText {

    /** The longest text; a longer one is cut and ends in an ellipsis. */
    public static final int MOST_CHARACTERS = 500;

    /** More causes than any exception has, unless they go round in a circle. */
    private static final int DEEPEST = 20;

    private static final HexFormat HEX = HexFormat.of();

    private LogText() {}

    /** The text of the value, harmless in a log line. */
    public static String of(@Nullable Object value) {
        String text = String.valueOf(value);
        int length = Math.min(text.length(), MOST_CHARACTERS);
        int plain = 0;
        while (plain < length && isHarmless(text, plain)) {
            plain++;
        }
        return plain == text.length() ? text : escaped(text, length);
    }

    /**
     * The exception to log with its stack trace: as it is if all its messages are harmless, otherwise a copy with harmless
     * messages. A listener of the application, or a database, may repeat the name of a user in them.
     */
    public static Throwable trace(Throwable failure) {
        return isHarmless(failure, 0) ? failure : new Harmless(failure, 0);
    }

    private static boolean isHarmless(Throwable failure, int depth) {
        String message = failure.getMessage() == null ? "" : failure.getMessage();
        for (int i = 0; i < message.length(); i++) {
            if (!isHarmless(message, i)) {
                return false;
            }
        }
        Throwable cause = failure.getCause();
        return depth < DEEPEST
                && (cause == null || isHarmless(cause, depth + 1))
                && Arrays.stream(failure.getSuppressed()).allMatch(other -> isHarmless(other, depth + 1));
    }

    /** A copy of an exception for the log. The class of the original is part of its message. */
    private static final class Harmless extends RuntimeException {

        private static final long serialVersionUID = 1L;

        Harmless(Throwable original, int depth) {
            super(
                    original.getClass().getName() + ": " + of(original.getMessage()),
                    original.getCause() == null || depth >= DEEPEST
                            ? null
                            : new Harmless(original.getCause(), depth + 1));
            setStackTrace(original.getStackTrace());
            if (depth < DEEPEST) {
                Arrays.stream(original.getSuppressed()).forEach(other -> addSuppressed(new Harmless(other, depth + 1)));
            }
        }
    }

    private static String escaped(String text, int length) {
        StringBuilder escaped = new StringBuilder(length + 16);
        for (int i = 0; i < length; i++) {
            char letter = text.charAt(i);
            if (isHarmless(text, i)) {
                escaped.append(letter);
            } else {
                escaped.append("\\u").append(HEX.toHexDigits(letter));
            }
        }
        return length < text.length() ? escaped.append('…').toString() : escaped.toString();
    }

    private static boolean isHarmless(String text, int index) {
        char letter = text.charAt(index);
        if (letter >= ' ' && letter < '\u007f') {
            char next = index + 1 < text.length() ? text.charAt(index + 1) : ' ';
            return letter == '$' ? next != '{' : letter != '\\' || next != 'u';
        }
        return switch (Character.getType(letter)) {
            case Character.CONTROL,
                    Character.FORMAT,
                    Character.LINE_SEPARATOR,
                    Character.PARAGRAPH_SEPARATOR,
                    Character.PRIVATE_USE,
                    Character.UNASSIGNED -> false;
            case Character.SURROGATE -> isInPair(text, index);
            default -> true;
        };
    }

    /** Also of a pair: the characters beyond the first plane may be tags, which are not seen. */
    private static boolean isInPair(String text, int index) {
        int start = Character.isLowSurrogate(text.charAt(index)) && index > 0 ? index - 1 : index;
        int point = text.codePointAt(start);
        return Character.isSupplementaryCodePoint(point)
                && Character.getType(point) != Character.FORMAT
                && Character.getType(point) != Character.PRIVATE_USE
                && Character.getType(point) != Character.UNASSIGNED;
    }
}
