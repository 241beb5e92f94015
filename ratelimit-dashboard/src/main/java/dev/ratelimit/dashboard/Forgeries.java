package dev.ratelimit.dashboard;

import jakarta.servlet.http.Cookie;
import jakarta.servlet.http.HttpServletRequest;
import java.nio.charset.StandardCharsets;
import java.security.MessageDigest;
import java.security.SecureRandom;
import java.util.Base64;
import org.jspecify.annotations.Nullable;

/**
 * Refuses writes that another site made a browser send. This holds even if the application has switched the protection of Spring
 * Security off.
 *
 * <ol>
 *   <li>The page asks for its session. The answer has a random token, in the body and as a cookie that scripts cannot read.
 *   <li>A write sends the token as a header. Another site can neither read the token nor set the header.
 *   <li>If the browser says where the request comes from ({@code Sec-Fetch-Site}), it must be this origin. The header {@code Origin}
 *       is not compared: behind a proxy that changes the host, it would never match.
 * </ol>
 *
 * Nothing is kept on the server, so a write may go to another instance. The cookie has no path: browsers then take that of the
 * request as they see it, which is right behind any proxy.
 */
final class Forgeries {

    static final String HEADER = "X-Ratelimit-Token";
    static final String COOKIE = "RATELIMIT_DASHBOARD";

    private static final int BYTES = 24;
    private static final int TEXT = 32;

    private final SecureRandom random = new SecureRandom();

    /** The token of the browser; a new one if it has none. */
    String tokenOf(HttpServletRequest request) {
        String sent = sentToken(request);
        if (sent != null) {
            return sent;
        }
        byte[] bytes = new byte[BYTES];
        random.nextBytes(bytes);
        return Base64.getUrlEncoder().withoutPadding().encodeToString(bytes);
    }

    /** The token that the browser has sent, or {@code null} for none. */
    static @Nullable String sentToken(HttpServletRequest request) {
        String sent = cookie(request);
        return sent != null && sent.length() == TEXT ? sent : null;
    }

    /** The header that keeps the token in the browser. */
    static String cookie(String token, boolean secure) {
        return COOKIE + "=" + token + "; HttpOnly; SameSite=Strict" + (secure ? "; Secure" : "");
    }

    /** Refuses a write that does not come from the page. */
    void require(HttpServletRequest request) {
        String site = request.getHeader("Sec-Fetch-Site");
        if (site != null && !site.equals("same-origin")) {
            throw RefusedException.of(403, "The request comes from another site.");
        }
        String header = request.getHeader(HEADER);
        String cookie = sentToken(request);
        if (header == null || cookie == null || !same(header, cookie)) {
            throw RefusedException.of(
                    403, "The request lacks the token of the page. Reload the page, and allow cookies of this site.");
        }
    }

    private static boolean same(String one, String other) {
        return MessageDigest.isEqual(one.getBytes(StandardCharsets.UTF_8), other.getBytes(StandardCharsets.UTF_8));
    }

    private static @Nullable String cookie(HttpServletRequest request) {
        Cookie[] cookies = request.getCookies();
        if (cookies != null) {
            for (Cookie cookie : cookies) {
                if (cookie.getName().equals(COOKIE)) {
                    return cookie.getValue();
                }
            }
        }
        return null;
    }
}
