package dev.ratelimit.admin;

import dev.ratelimit.support.JsonText;
import java.util.Map;
import java.util.stream.Collectors;

/** The notes of an operator, as a JSON object. */
final class Notes {

    private Notes() {}

    static String json(Map<String, String> notes) {
        return notes.entrySet().stream()
                .map(note -> JsonText.quoted(note.getKey()) + ": " + JsonText.quoted(note.getValue()))
                .collect(Collectors.joining(", ", "{", "}"));
    }
}
