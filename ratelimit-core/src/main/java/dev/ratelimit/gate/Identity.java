package dev.ratelimit.gate;

import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * The result of authentication.
 *
 * @param user the name of the principal, or {@code null} for nobody; blanks around it do not count, as in
 *     {@link dev.ratelimit.Subject}: so a blocked user is blocked however the name was typed
 * @param authorities those of the user
 */
public record Identity(@Nullable String user, Set<String> authorities) {

    public static final Identity NOBODY = new Identity(null, Set.of());

    public Identity {
        user = user == null || user.isBlank() ? null : user.strip();
        authorities = Set.copyOf(authorities);
    }
}
