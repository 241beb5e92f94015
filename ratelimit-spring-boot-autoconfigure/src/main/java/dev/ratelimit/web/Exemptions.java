package dev.ratelimit.web;

import dev.ratelimit.policy.AddressRange;
import dev.ratelimit.policy.IpAddress;
import dev.ratelimit.policy.RuleBook;
import jakarta.servlet.http.HttpServletRequest;
import java.util.List;
import java.util.Set;
import org.jspecify.annotations.Nullable;
import org.springframework.http.server.PathContainer;
import org.springframework.web.util.pattern.PathPattern;
import org.springframework.web.util.pattern.PathPatternParser;

/** Requests that no limit applies to: by authority, by address, by path. */
public final class Exemptions {

    private final Set<String> authorities;
    private final List<AddressRange> addresses;
    private final List<PathPattern> paths;
    private final ClientAddresses clients;
    private final Authorities grantedAuthorities;

    public Exemptions(
            Set<String> authorities,
            List<AddressRange> addresses,
            List<String> paths,
            PathPatternParser parser,
            ClientAddresses clients,
            Authorities grantedAuthorities) {
        this.authorities = Set.copyOf(authorities);
        this.addresses = List.copyOf(addresses);
        this.paths = paths.stream().map(path -> RuleBook.pattern(path, parser)).toList();
        this.clients = clients;
        this.grantedAuthorities = grantedAuthorities;
    }

    /** Whether no limit applies to the request, whatever it is that exempts it. */
    public boolean exempts(HttpServletRequest request) {
        try {
            return exemptsUser(request) || exemptsPathOrAddress(request, RequestPath.of(request));
        } catch (RequestPath.UnreadableException e) {
            return false;
        }
    }

    /** Whether no limit applies to a request of which just this is known. */
    public boolean exempts(String path, @Nullable IpAddress address, Set<String> granted) {
        return exemptsPath(List.of(PathContainer.parsePath(path)))
                || exemptsAddress(address)
                || exemptsAuthorities(granted);
    }

    /** By what is known of every request. */
    boolean exemptsPathOrAddress(HttpServletRequest request, RequestPath path) {
        return exemptsPath(path.readings()) || exemptsAddress(addresses.isEmpty() ? null : clients.addressOf(request));
    }

    private boolean exemptsPath(List<PathContainer> readings) {
        for (PathPattern pattern : paths) {
            if (readings.stream().allMatch(pattern::matches)) {
                return true;
            }
        }
        return false;
    }

    /** A trusted proxy speaks for others, and is not exempt by its address. */
    private boolean exemptsAddress(@Nullable IpAddress address) {
        if (address != null && !clients.isTrusted(address)) {
            for (AddressRange range : addresses) {
                if (range.contains(address)) {
                    return true;
                }
            }
        }
        return false;
    }

    /** By who is logged in: known only after authentication. */
    boolean exemptsUser(HttpServletRequest request) {
        return !authorities.isEmpty() && exemptsAuthorities(grantedAuthorities.of(request));
    }

    private boolean exemptsAuthorities(Set<String> granted) {
        for (String authority : granted) {
            if (authorities.contains(authority)) {
                return true;
            }
        }
        return false;
    }
}
