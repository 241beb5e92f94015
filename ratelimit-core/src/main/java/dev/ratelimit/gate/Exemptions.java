package dev.ratelimit.gate;

import dev.ratelimit.IpAddress;
import dev.ratelimit.policy.AddressRange;
import dev.ratelimit.policy.PathReadings;
import dev.ratelimit.policy.RuleBook;
import java.util.Collection;
import java.util.List;
import java.util.Set;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;
import org.springframework.http.server.PathContainer;
import org.springframework.web.util.pattern.PathPattern;
import org.springframework.web.util.pattern.PathPatternParser;

/** The requests that no limit applies to: by authority, by address, by path. */
public final class Exemptions {

    /** Exempts nobody. */
    public static final Exemptions NONE =
            new Exemptions(Set.of(), List.of(), List.of(), List.of(), PathPatternParser.defaultInstance);

    private final Set<String> authorities;
    private final List<AddressRange> addresses;
    private final List<AddressRange> trustedProxies;
    private final Supplier<List<String>> paths;
    private final PathPatternParser parser;
    private volatile @Nullable List<PathPattern> patterns;

    /**
     * @param trustedProxies are not exempt by their address, since they speak for others
     * @param paths patterns such as {@code /health/**}
     */
    public Exemptions(
            Set<String> authorities,
            List<AddressRange> addresses,
            List<AddressRange> trustedProxies,
            List<String> paths,
            PathPatternParser parser) {
        this(authorities, addresses, trustedProxies, () -> paths, parser);
        List<PathPattern> unused = patterns();
    }

    /**
     * The same with paths that are known later.
     *
     * @param paths asked once, with the first request
     */
    public Exemptions(
            Set<String> authorities,
            List<AddressRange> addresses,
            List<AddressRange> trustedProxies,
            Supplier<List<String>> paths,
            PathPatternParser parser) {
        this.authorities = Set.copyOf(authorities);
        this.addresses = List.copyOf(addresses);
        this.trustedProxies = List.copyOf(trustedProxies);
        this.paths = paths;
        this.parser = parser;
    }

    private List<PathPattern> patterns() {
        List<PathPattern> known = patterns;
        if (known == null) {
            known = paths.get().stream()
                    .map(path -> RuleBook.pattern(path, parser))
                    .toList();
            patterns = known;
        }
        return known;
    }

    boolean exempt(Arrival arrival) {
        return exempts(arrival.path()) || exempts(arrival.address());
    }

    /** A path is exempt only in all its readings; one that cannot be read has none. */
    public boolean exempts(PathReadings path) {
        if (path.all().isEmpty()) {
            return false;
        }
        List<PathPattern> exempt = patterns();
        for (PathContainer reading : path.all()) {
            if (!matchesAny(exempt, reading)) {
                return false;
            }
        }
        return true;
    }

    private static boolean matchesAny(List<PathPattern> patterns, PathContainer reading) {
        for (PathPattern pattern : patterns) {
            if (pattern.matches(reading)) {
                return true;
            }
        }
        return false;
    }

    boolean exempts(@Nullable IpAddress address) {
        return address != null
                && !addresses.isEmpty()
                && AddressRange.anyContains(addresses, address)
                && !AddressRange.anyContains(trustedProxies, address);
    }

    boolean exempt(Collection<String> granted) {
        if (!authorities.isEmpty()) {
            for (String authority : granted) {
                if (authorities.contains(authority)) {
                    return true;
                }
            }
        }
        return false;
    }
}
