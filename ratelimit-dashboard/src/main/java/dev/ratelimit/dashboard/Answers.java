package dev.ratelimit.dashboard;

import java.util.Map;
import org.springframework.http.HttpHeaders;
import org.springframework.web.servlet.function.ServerResponse;

/** Makes responses with the headers that keep the page to itself. */
final class Answers {

    private static final String POLICY =
            "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:;"
                    + " connect-src 'self'; frame-ancestors 'none'; base-uri 'none'; form-action 'self'";

    static final String NO_STORE = "no-store";

    private static final Map<String, String> ALWAYS = Map.of(
            "Content-Security-Policy", POLICY,
            "X-Content-Type-Options", "nosniff",
            "X-Frame-Options", "DENY",
            "Referrer-Policy", "no-referrer",
            "Cross-Origin-Opener-Policy", "same-origin",
            "Cross-Origin-Resource-Policy", "same-origin");

    private Answers() {}

    /** A response that is written as it is, whatever converters the application has. */
    static ServerResponse of(int status, String type, byte[] body, Map<String, String> headers) {
        return ServerResponse.status(status)
                .headers(all -> {
                    ALWAYS.forEach(all::set);
                    headers.forEach(all::set);
                    all.set(HttpHeaders.CONTENT_TYPE, type);
                })
                .build((request, response) -> {
                    response.setContentLength(body.length);
                    response.getOutputStream().write(body);
                    return null;
                });
    }

    static ServerResponse empty(int status, Map<String, String> headers) {
        return ServerResponse.status(status)
                .headers(all -> {
                    ALWAYS.forEach(all::set);
                    headers.forEach(all::set);
                })
                .build();
    }
}
