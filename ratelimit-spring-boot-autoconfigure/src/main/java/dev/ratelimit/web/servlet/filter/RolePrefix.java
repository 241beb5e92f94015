package dev.ratelimit.web.servlet.filter;

import dev.ratelimit.web.servlet.Authorities;
import jakarta.servlet.http.HttpServletRequest;
import java.util.Collection;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.stream.Collectors;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Warns if the configuration names an authority such as {@code ADMIN}, and callers have {@code ROLE_ADMIN}: in Spring Security, the
 * role {@code ADMIN} is the authority {@code ROLE_ADMIN}. An authority is looked for until a caller has it, with or without the
 * prefix.
 */
public final class RolePrefix implements Authorities {

    private static final Logger log = LoggerFactory.getLogger(RolePrefix.class);

    private static final String PREFIX = "ROLE_";

    private final Authorities authorities;
    private final Set<String> unseen = ConcurrentHashMap.newKeySet();

    private RolePrefix(Authorities authorities, Collection<String> named) {
        this.authorities = authorities;
        this.unseen.addAll(named);
    }

    /**
     * The same authorities, with a look at them if there is something to look for.
     *
     * @param named the authorities in the configuration
     */
    public static Authorities watching(Authorities authorities, Collection<String> named) {
        Set<String> all = Set.copyOf(named);
        Set<String> doubtful = all.stream()
                .filter(name -> !name.startsWith(PREFIX) && !all.contains(PREFIX + name))
                .collect(Collectors.toSet());
        return doubtful.isEmpty() ? authorities : new RolePrefix(authorities, doubtful);
    }

    @Override
    public Set<String> of(HttpServletRequest request) {
        Set<String> found = authorities.of(request);
        if (!unseen.isEmpty() && !found.isEmpty()) {
            look(found);
        }
        return found;
    }

    private void look(Set<String> found) {
        for (String name : unseen) {
            if (found.contains(name)) {
                seen(name);
            } else if (found.contains(PREFIX + name) && seen(name)) {
                log.warn(
                        "A caller has the authority {}{}, but the settings of rate limits name {}, which no caller has had so far."
                                + " If you mean the role, write {}{}. This is logged once",
                        PREFIX,
                        name,
                        name,
                        PREFIX,
                        name);
            }
        }
    }

    private boolean seen(String name) {
        return unseen.remove(name);
    }
}
