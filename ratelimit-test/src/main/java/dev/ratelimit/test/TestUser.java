package dev.ratelimit.test;

import java.util.Set;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;
import org.springframework.security.authentication.AnonymousAuthenticationToken;
import org.springframework.security.core.Authentication;
import org.springframework.security.core.GrantedAuthority;
import org.springframework.security.core.context.SecurityContextHolder;
import org.springframework.util.ClassUtils;

/**
 * The user of a test, as Spring Security's annotations log one in.
 *
 * @param name {@code null} for nobody
 */
record TestUser(@Nullable String name, Set<String> authorities) {

    private static final boolean HAS_SECURITY =
            ClassUtils.isPresent("org.springframework.security.core.context.SecurityContextHolder", null);

    private static final TestUser NOBODY = new TestUser(null, Set.of());

    /** The user that is logged in now, on this thread. */
    static TestUser current() {
        return HAS_SECURITY ? Security.user() : NOBODY;
    }

    /** This user; if it is nobody, the other one. */
    TestUser or(@Nullable TestUser other) {
        return name == null && other != null ? other : this;
    }

    /** Only loaded where Spring Security is there. */
    private static final class Security {

        static TestUser user() {
            Authentication user = SecurityContextHolder.getContext().getAuthentication();
            return user == null || user instanceof AnonymousAuthenticationToken || !user.isAuthenticated()
                    ? NOBODY
                    : new TestUser(
                            user.getName(),
                            user.getAuthorities().stream()
                                    .map(GrantedAuthority::getAuthority)
                                    .collect(Collectors.toSet()));
        }
    }
}
