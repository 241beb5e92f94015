package dev.ratelimit.admin;

import java.util.Map;
import java.util.stream.Collectors;

/** The notes of an operator, as a JSON object. */
final class Notes {

    private Notes() {}

    static String json(Map<String, String> notes) {
        return notes.entrySet().stream()
                .map(note -> quoted(note.getKey()) + ": " + quoted(note.getValue()))
                .collect(Collectors.joining(", ", "{", "}"));
    }

    private static String quoted(String text) {
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
}
