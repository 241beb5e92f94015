package dev.ratelimit.web;

import dev.ratelimit.IpAddress;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import org.jspecify.annotations.Nullable;

/**
 * Finds out which of the two headers a proxy writes. A proxy writes its header into every request that it passes on, and a client
 * cannot remove it. So a request with only one of them shows that the other one is written by clients, not by that proxy. It is
 * ignored from then on. Requests with neither show nothing: they may be health checks of the proxy itself.
 */
final class ForwardingHeaders {

    /** A range of proxies may be large; beyond that many, no more are remembered. */
    private static final int MOST_PROXIES = 10_000;

    private final ForwardingHeader chosen;

    /** By the address of the proxy; {@code AUTO} if requests have shown both. */
    private final Map<IpAddress, ForwardingHeader> headers = new ConcurrentHashMap<>();

    ForwardingHeaders(ForwardingHeader chosen) {
        this.chosen = chosen;
    }

    /** The only header to believe in a request of the proxy; {@code null} if it may be either. */
    @Nullable
    ForwardingHeader of(IpAddress proxy, boolean hasForwardedFor, boolean hasForwarded) {
        if (chosen != ForwardingHeader.AUTO) {
            return chosen;
        }
        if (hasForwardedFor != hasForwarded) {
            remember(proxy, hasForwardedFor ? ForwardingHeader.X_FORWARDED_FOR : ForwardingHeader.FORWARDED);
            return null;
        }
        ForwardingHeader known = headers.get(proxy);
        return known == ForwardingHeader.AUTO ? null : known;
    }

    void forget() {
        headers.clear();
    }

    private void remember(IpAddress proxy, ForwardingHeader header) {
        ForwardingHeader known = headers.get(proxy);
        if (known == null && headers.size() < MOST_PROXIES) {
            headers.put(proxy, header);
        } else if (known != null && known != header) {
            headers.put(proxy, ForwardingHeader.AUTO);
        }
    }
}
