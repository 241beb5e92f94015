package dev.ratelimit.dashboard;

import jakarta.servlet.http.HttpServletRequest;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import org.springframework.security.web.csrf.CsrfToken;

/** The token that Spring Security asks for, if the application has its protection switched on. */
final class SpringCsrf {

    /** The name of {@link CsrfToken}, which may not be there. */
    private static final String ATTRIBUTE = "org.springframework.security.web.csrf.CsrfToken";

    private SpringCsrf() {}

    /** The header to send with a write, or {@code null} for none. */
    static @Nullable Map<String, String> headerOf(HttpServletRequest request) {
        return request.getAttribute(ATTRIBUTE) == null ? null : Present.headerOf(request);
    }

    private static final class Present {

        private static @Nullable Map<String, String> headerOf(HttpServletRequest request) {
            return request.getAttribute(ATTRIBUTE) instanceof CsrfToken token
                    ? Map.of("name", token.getHeaderName(), "value", token.getToken())
                    : null;
        }
    }
}
