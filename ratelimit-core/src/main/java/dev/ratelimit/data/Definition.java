package dev.ratelimit.data;

import dev.ratelimit.InvalidLimitException;
import java.util.LinkedHashMap;
import java.util.Map;

/** The definition of a limit as it is stored: lines such as {@code max-requests: 100}. */
public final class Definition {

    private static final String ADVICE = "write one line for each property, such as max-requests: 100";

    private Definition() {}

    public static Map<String, String> parse(String limit, String text) {
        Map<String, String> properties = new LinkedHashMap<>();
        text.lines().map(String::strip).filter(line -> !line.isEmpty()).forEach(line -> {
            int colon = line.indexOf(':');
            String property = colon < 0 ? "" : line.substring(0, colon).strip();
            if (property.isEmpty()) {
                throw new InvalidLimitException(limit, "definition", line, ADVICE);
            }
            String value = line.substring(colon + 1).strip();
            if (properties.put(property, value) != null) {
                throw new InvalidLimitException(limit, property, value, "write it once only");
            }
        });
        return properties;
    }

    public static String text(String limit, Map<String, String> properties) {
        StringBuilder text = new StringBuilder();
        properties.forEach((property, value) -> {
            if (property.isBlank() || property.indexOf(':') >= 0 || hasLines(property) || hasLines(value)) {
                throw new InvalidLimitException(limit, property, value, ADVICE);
            }
            text.append(property.strip()).append(": ").append(value.strip()).append('\n');
        });
        return text.toString();
    }

    private static boolean hasLines(String text) {
        return text.lines().count() > 1;
    }
}
