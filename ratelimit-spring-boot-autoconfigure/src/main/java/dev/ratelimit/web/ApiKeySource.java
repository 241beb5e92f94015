package dev.ratelimit.web;

import java.util.function.UnaryOperator;
import org.jspecify.annotations.Nullable;

/**
 * Where a request carries its API key.
 *
 * @param header the name of the header
 * @param bearer whether {@code Authorization: Bearer} is read, too
 */
public record ApiKeySource(String header, boolean bearer) {

    private static final String BEARER = "Bearer ";

    /**
     * The key as it was sent, or {@code null} if the request carries none.
     *
     * @param headers gives the value of a header
     */
    public @Nullable String secretOf(UnaryOperator<@Nullable String> headers) {
        String sent = headers.apply(header);
        if (sent == null && bearer) {
            String authorization = headers.apply("Authorization");
            sent = authorization != null && authorization.regionMatches(true, 0, BEARER, 0, BEARER.length())
                    ? authorization.substring(BEARER.length())
                    : null;
        }
        return sent == null || sent.isBlank() ? null : sent.strip();
    }

    /** The value of {@code WWW-Authenticate} for a key that is not valid. */
    public String challenge() {
        return bearer ? "Bearer error=\"invalid_token\"" : "ApiKey header=\"" + header + "\"";
    }
}
