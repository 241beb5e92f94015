package dev.ratelimit.test.assertion;

import java.util.function.Function;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/**
 * A response, as far as limits go.
 *
 * @param headers the first value of a header by its name, or {@code null}
 */
record LimitedResponse(int status, Function<String, @Nullable String> headers, String body) {

    private static final int TOO_MANY_REQUESTS = 429;
    private static final int UNAVAILABLE = 503;
    private static final Pattern STANDARD = Pattern.compile("\"([^\"]*)\";r=(\\d+)");
    private static final Pattern VIOLATED = Pattern.compile("\"violated-policies\":\\[\"([^\\]]*)\"]");

    boolean isLimited() {
        return status == TOO_MANY_REQUESTS;
    }

    @Nullable
    Long remaining() {
        Long legacy = number("X-RateLimit-Remaining");
        if (legacy != null) {
            return legacy;
        }
        Matcher standard = standard();
        return standard == null ? null : Long.valueOf(standard.group(2));
    }

    @Nullable
    Long retryAfterSeconds() {
        return number("Retry-After");
    }

    /** The names of the limits that denied it: from the body, else the tightest from the headers. */
    @Nullable
    String deniedBy() {
        Matcher violated = VIOLATED.matcher(body);
        if (violated.find()) {
            return violated.group(1).replace("\",\"", ", ");
        }
        Matcher standard = standard();
        return !isLimited() || standard == null ? null : standard.group(1);
    }

    private @Nullable Matcher standard() {
        String header = headers.apply("RateLimit");
        Matcher matcher = header == null ? null : STANDARD.matcher(header);
        return matcher != null && matcher.find() ? matcher : null;
    }

    private @Nullable Long number(String name) {
        String value = headers.apply(name);
        return value == null || !value.matches("\\d{1,18}") ? null : Long.valueOf(value);
    }

    /** The likely reason why it has no headers of limits, for the end of a message. */
    String hint() {
        if (isLimited() || remaining() != null) {
            return "";
        }
        return switch (status) {
            case 401 ->
                ". Nobody was logged in, and rules that need the user were not reached. Send credentials, or add @WithMockUser,"
                        + " which MockMvc knows with the dependency spring-boot-starter-security-test";
            case 403 ->
                ". Spring Security refused the request, and rules that need the user were not reached. If it changes something,"
                        + " it may lack a CSRF token: add .with(csrf())";
            case 404 -> ". Nothing is at this path; check it";
            case UNAVAILABLE -> ". The store is unavailable, and on-failure is closed";
            default ->
                ". No rule and no @RateLimited applies to the request, or limits or their headers are switched off."
                        + " A slice such as @WebMvcTest has limits only with @AutoConfigureRateLimit";
        };
    }

    boolean isUnavailable() {
        return status == UNAVAILABLE;
    }

    /** The status with what the response says about limits, for messages. */
    @Override
    public String toString() {
        StringBuilder text = new StringBuilder().append(status);
        String limit = deniedBy();
        Long left = remaining();
        if (limit != null) {
            text.append(" by limit ").append(limit);
        }
        if (retryAfterSeconds() != null) {
            text.append(", Retry-After ").append(retryAfterSeconds());
        } else if (left != null) {
            text.append(", ").append(left).append(" remaining");
        } else if (!isLimited() && !isUnavailable()) {
            text.append(" without rate limit headers");
        }
        return text.toString();
    }
}
