package dev.ratelimit.dashboard;

import jakarta.servlet.http.HttpServletRequest;
import java.io.IOException;
import java.util.Set;
import org.jspecify.annotations.Nullable;
import org.springframework.http.InvalidMediaTypeException;
import org.springframework.http.MediaType;
import tools.jackson.core.JacksonException;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;

/** Reads and writes JSON, by a mapper of its own: that of the application may be configured in any way. */
final class Json {

    /** The definition of a limit and a reason fit easily. */
    private static final int MOST_BYTES = 64 * 1024;

    static final String TYPE = "application/json";
    static final String PROBLEM = "application/problem+json";

    private final JsonMapper mapper = JsonMapper.builder().build();

    byte[] write(Object value) {
        return mapper.writeValueAsBytes(value);
    }

    /** The body of a request, an object. */
    JsonNode read(HttpServletRequest request) throws IOException {
        if (!isJson(request.getContentType())) {
            throw RefusedException.of(415, "The body must be application/json.");
        }
        byte[] body = request.getInputStream().readNBytes(MOST_BYTES + 1);
        if (body.length > MOST_BYTES) {
            throw RefusedException.of(413, "The body has more than " + MOST_BYTES + " bytes.");
        }
        try {
            JsonNode read = mapper.readTree(body);
            if (read.isObject()) {
                return read;
            }
        } catch (JacksonException e) {
            // The answer is the same as for JSON of another kind.
        }
        throw RefusedException.of(400, "The body must be a JSON object.");
    }

    /** Refuses a field that would be ignored: a change with a misspelled end would have none. */
    static void requireOnly(JsonNode body, Set<String> known) {
        for (String field : body.propertyNames()) {
            if (!known.contains(field)) {
                throw RefusedException.invalid(
                        field, "The field " + field + " is unknown here; write " + String.join(", ", known) + ".");
            }
        }
    }

    private static boolean isJson(@Nullable String type) {
        try {
            return type != null && MediaType.APPLICATION_JSON.isCompatibleWith(MediaType.parseMediaType(type));
        } catch (InvalidMediaTypeException e) {
            return false;
        }
    }
}
