package dev.ratelimit.web;

import dev.ratelimit.rule.AddressRange;
import dev.ratelimit.rule.IpAddress;
import dev.ratelimit.rule.RuleBook;
import jakarta.servlet.http.HttpServletRequest;
import java.util.List;
import java.util.Set;
import org.springframework.web.util.pattern.PathPattern;
import org.springframework.web.util.pattern.PathPatternParser;

/** Requests that no limit applies to: by authority, by address, by path. */
public final class Exemptions {

    private final Set<String> authorities;
    private final List<AddressRange> addresses;
    private final List<PathPattern> paths;
    private final ClientAddresses clients;
    private final Authorities grantedAuthorities;

    /** The authorities of whoever is logged in. */
    @FunctionalInterface
    public interface Authorities {
        Set<String> of(HttpServletRequest request);
    }

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

    /** By what is known of every request. A trusted proxy speaks for others, and is not exempt by its address. */
    boolean exemptsPathOrAddress(HttpServletRequest request, RequestPath path) {
        for (PathPattern pattern : paths) {
            if (path.readings().stream().allMatch(pattern::matches)) {
                return true;
            }
        }
        IpAddress address = addresses.isEmpty() ? null : clients.addressOf(request);
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
        if (authorities.isEmpty()) {
            return false;
        }
        for (String granted : grantedAuthorities.of(request)) {
            if (authorities.contains(granted)) {
                return true;
            }
        }
        return false;
    }
}
