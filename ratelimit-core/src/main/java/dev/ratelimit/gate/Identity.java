package dev.ratelimit.gate;

import dev.ratelimit.support.UserName;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * The result of authentication.
 *
 * @param user the name of the principal, or {@code null} for nobody. Blanks around it do not count, nor how letters with accents are
 *     composed, as in {@link dev.ratelimit.Subject}. So such a spelling hides no block
 * @param authorities those of the user
 */
public record Identity(@Nullable String user, Set<String> authorities) {

    public static final Identity NOBODY = new Identity(null, Set.of());

    public Identity {
        user = user == null || user.isBlank() ? null : UserName.normal(user);
        authorities = Set.copyOf(authorities);
    }
}
