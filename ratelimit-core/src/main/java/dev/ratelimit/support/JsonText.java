package dev.ratelimit.support;

import java.util.Map;
import java.util.stream.Collectors;

/** Texts in JSON. */
public final class JsonText {

    private JsonText() {}

    /** The text as a JSON string, with its quotes. */
    public static String quoted(String text) {
        StringBuilder quoted = new StringBuilder(text.length() + 2).append('"');
        for (int i = 0; i < text.length(); i++) {
            char letter = text.charAt(i);
            if (letter == '"' || letter == '\\') {
                quoted.append('\\').append(letter);
            } else if (letter < ' ') {
                quoted.append(String.format("\\u%04x", (int) letter));
            } else {
                quoted.append(letter);
            }
        }
        return quoted.append('"').toString();
    }

    /** A JSON object of these texts. */
    public static String object(Map<String, String> values) {
        return values.entrySet().stream()
                .map(value -> quoted(value.getKey()) + ": " + quoted(value.getValue()))
                .collect(Collectors.joining(", ", "{", "}"));
    }
}
