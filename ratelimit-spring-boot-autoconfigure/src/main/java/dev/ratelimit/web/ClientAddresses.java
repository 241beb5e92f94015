package dev.ratelimit.web;

import dev.ratelimit.IpAddress;
import dev.ratelimit.policy.AddressRange;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Finds out which address a request comes from.
 *
 * <ol>
 *   <li>The other end of the connection is known for certain.
 *   <li>If it is a trusted proxy, the last entry of {@code X-Forwarded-For} or {@code Forwarded} is trusted, since the proxy
 *       added it. If that entry is a trusted proxy, too, the entry before it is trusted, and so on.
 *   <li>The first address from the right that is no trusted proxy is the client. Entries further left were sent
 *       by the client and mean nothing.
 * </ol>
 *
 * If both headers are present and disagree, a proxy that writes one of them passed the other on unread. The one that the proxy
 * is known to write is trusted, else neither: see {@link ForwardingHeaders}.
 */
public final class ClientAddresses implements LearnedFromRequests {

    public static final String X_FORWARDED_FOR = "X-Forwarded-For";
    public static final String FORWARDED = "Forwarded";

    /** Never read, but it shows that there is a proxy. */
    public static final String X_REAL_IP = "X-Real-IP";

    /** More hops than that are nobody's. */
    private static final int MOST_HOPS = 64;

    private static final Logger log = LoggerFactory.getLogger(ClientAddresses.class);

    private final List<AddressRange> trustedProxies;
    private final ForwardingHeaders headers;

    /** The warnings that were logged: each is logged once. */
    private final Set<String> warnings = ConcurrentHashMap.newKeySet();

    public ClientAddresses(List<AddressRange> trustedProxies, ForwardingHeader header) {
        this.trustedProxies = List.copyOf(trustedProxies);
        this.headers = new ForwardingHeaders(header);
    }

    /** Forgets what requests have shown of the proxies, and which warnings were logged. */
    @Override
    public void forget() {
        headers.forget();
        warnings.clear();
    }

    /** The client's address, or {@code null} if the connection has none. */
    public @Nullable IpAddress addressOf(Connection connection) {
        IpAddress peer = IpAddress.parse(connection.peer());
        if (peer == null || !AddressRange.anyContains(trustedProxies, peer)) {
            if (connection.isForwarded()) {
                warnOnce(
                        "Ignoring X-Forwarded-For or Forwarded from {}, which is not a trusted proxy: all clients behind it"
                                + " count as one. If it is your proxy, add it to ratelimit.identity.trusted-proxies",
                        peer);
            } else if (connection.hasRealIp()) {
                warnOfRealIp(peer);
            }
            return peer;
        }
        return forwarded(peer, connection);
    }

    private void warnOfRealIp(@Nullable IpAddress peer) {
        warnOnce(
                "Ignoring X-Real-IP from {}: all clients behind it count as one. If it is your proxy, let it write"
                        + " X-Forwarded-For, and add it to ratelimit.identity.trusted-proxies",
                peer);
    }

    private void warnOnce(String message, @Nullable IpAddress peer) {
        if (warnings.add(message)) {
            log.warn(message + ". This is logged once", peer);
        }
    }

    private IpAddress forwarded(IpAddress proxy, Connection connection) {
        List<String> forwardedFor = connection.forwardedFor();
        List<String> forwarded = connection.forwarded();
        ForwardingHeader only = headers.of(proxy, !forwardedFor.isEmpty(), !forwarded.isEmpty());
        IpAddress one = forwardedFor.isEmpty() || only == ForwardingHeader.FORWARDED
                ? null
                : client(proxy, entries(forwardedFor));
        IpAddress other = forwarded.isEmpty() || only == ForwardingHeader.X_FORWARDED_FOR
                ? null
                : client(proxy, ForwardedHeader.hops(forwarded));
        if (one != null && other != null) {
            return one.equals(other) ? one : undecided(proxy);
        }
        IpAddress client = one != null ? one : other;
        if (client == null) {
            warnOfMissingHeader(proxy, connection);
            return proxy;
        }
        return client;
    }

    /** A proxy writes its header into each request that it passes on, so it writes another one. */
    private void warnOfMissingHeader(IpAddress proxy, Connection connection) {
        if (connection.isForwarded()) {
            warnOnce(
                    "A request from the trusted proxy {} lacks the header that ratelimit.identity.forwarded-header names, but"
                            + " has the other one: all clients behind it count as one. Name the header that your proxy writes",
                    proxy);
        } else if (connection.hasRealIp()) {
            warnOfRealIp(proxy);
        }
    }

    /** All such requests count as one client, that of the proxy: no choice of headers gains a separate count. */
    private IpAddress undecided(IpAddress proxy) {
        warnOnce(
                "X-Forwarded-For and Forwarded disagree in a request from {}; counting it for the proxy. Set"
                        + " ratelimit.identity.forwarded-header to the one that your proxy writes",
                proxy);
        return proxy;
    }

    private IpAddress client(IpAddress peer, List<String> hops) {
        IpAddress nearest = peer;
        for (int i = hops.size() - 1; i >= 0 && hops.size() - i <= MOST_HOPS; i--) {
            IpAddress hop = IpAddress.parse(hops.get(i));
            if (hop == null) {
                break;
            }
            nearest = hop;
            if (!AddressRange.anyContains(trustedProxies, hop)) {
                break;
            }
        }
        return nearest;
    }

    private static List<String> entries(List<String> lines) {
        List<String> entries = new ArrayList<>();
        for (String line : lines) {
            Collections.addAll(entries, line.split(",", -1));
        }
        return entries;
    }

    /**
     * A connection and its headers as they came in.
     *
     * @param peer the address at the other end
     * @param forwardedFor the lines of {@code X-Forwarded-For}
     * @param forwarded the lines of {@code Forwarded}
     * @param hasRealIp whether there is {@code X-Real-IP}
     */
    public record Connection(
            @Nullable String peer, List<String> forwardedFor, List<String> forwarded, boolean hasRealIp) {

        boolean isForwarded() {
            return !forwardedFor.isEmpty() || !forwarded.isEmpty();
        }
    }
}
