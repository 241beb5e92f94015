package dev.ratelimit.data.table;

import dev.ratelimit.setting.InvalidLimitException;
import java.util.LinkedHashMap;
import java.util.Map;

/** The stored text of a limit's definition: lines such as {@code max-requests: 100}. */
final class Definition {

    private Definition() {}

    static Map<String, String> parse(String limit, String text) {
        Map<String, String> properties = new LinkedHashMap<>();
        text.lines().map(String::strip).filter(line -> !line.isEmpty()).forEach(line -> {
            int colon = line.indexOf(':');
            String property = colon < 0 ? "" : line.substring(0, colon).strip();
            if (property.isEmpty()) {
                throw new InvalidLimitException(
                        limit, "definition", line, "write one line for each property, such as max-requests: 100");
            }
            String value = line.substring(colon + 1).strip();
            if (properties.put(property, value) != null) {
                throw new InvalidLimitException(limit, property, value, "write it once only");
            }
        });
        return properties;
    }

    /** {@link dev.ratelimit.admin.LimitAdmin} has checked that no property spans several lines. */
    static String text(Map<String, String> properties) {
        StringBuilder text = new StringBuilder();
        properties.forEach((property, value) ->
                text.append(property).append(": ").append(value).append('\n'));
        return text.toString();
    }
}
