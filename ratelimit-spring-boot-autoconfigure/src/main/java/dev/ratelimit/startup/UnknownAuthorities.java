package dev.ratelimit.startup;

import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/** Finds authorities in the configuration that no caller can have. */
public final class UnknownAuthorities implements ProbableMistakes.Finder {

    /** Spring Security gives these to callers that nobody has created. */
    private static final String ANONYMOUS = "ROLE_ANONYMOUS";

    private static final String FACTOR = "FACTOR_";

    private final Map<String, ? extends Collection<String>> named;
    private final @Nullable Supplier<@Nullable Set<String>> known;

    /**
     * @param named the authorities that the configuration names, by the words that precede them in the message
     * @param known the authorities that users can have, or {@code null} from it if they are not known; itself {@code null} if
     *     nobody can have any
     */
    public UnknownAuthorities(
            Map<String, ? extends Collection<String>> named, @Nullable Supplier<@Nullable Set<String>> known) {
        this.named = named;
        this.known = known;
    }

    @Override
    public List<String> find() {
        Set<String> ofUsers = known == null ? Set.of() : known.get();
        if (ofUsers == null) {
            return List.of();
        }
        List<String> mistakes = new ArrayList<>();
        named.forEach((place, authorities) -> {
            Set<String> unknown = new TreeSet<>(authorities);
            unknown.removeAll(ofUsers);
            if (known != null) {
                unknown.removeIf(authority -> authority.equals(ANONYMOUS) || authority.startsWith(FACTOR));
            }
            if (!unknown.isEmpty()) {
                mistakes.add(place + " " + String.join(", ", unknown) + ", but " + reason(ofUsers));
            }
        });
        return mistakes;
    }

    private String reason(Set<String> ofUsers) {
        return known == null
                ? "nobody has authorities without Spring Security"
                : "your users have " + (ofUsers.isEmpty() ? "none" : "only " + String.join(", ", ofUsers));
    }
}
