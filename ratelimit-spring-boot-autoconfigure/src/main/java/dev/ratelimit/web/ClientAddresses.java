package dev.ratelimit.web;

import dev.ratelimit.InvalidSettingException;
import dev.ratelimit.policy.AddressRange;
import dev.ratelimit.policy.IpAddress;
import jakarta.servlet.ServletRequest;
import jakarta.servlet.http.HttpServletRequest;
import jakarta.servlet.http.HttpServletRequestWrapper;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Locale;
import org.jspecify.annotations.Nullable;

/**
 * Finds out which address a request comes from.
 *
 * <ol>
 *   <li>The other end of the connection is known for certain.
 *   <li>If it is a trusted proxy, what it added to {@code X-Forwarded-For} or {@code Forwarded} is believed: the last
 *       entry. If that is a trusted proxy, too, the entry before it, and so on.
 *   <li>The first address from the right that is no trusted proxy is the client. What stands further left was sent by
 *       the client and means nothing.
 * </ol>
 *
 * If both headers are there and disagree, one of them was passed on unread by a proxy that writes the other: neither is
 * believed. What the container or the framework made of these headers is not looked at.
 */
public final class ClientAddresses {

    /** Where a listener on the connection leaves what was there before the container read the headers. */
    static final String ORIGINAL = ClientAddresses.class.getName() + ".ORIGINAL";

    static final String X_FORWARDED_FOR = "X-Forwarded-For";
    static final String FORWARDED = "Forwarded";

    /** More hops than that are nobody's. */
    private static final int MOST_HOPS = 64;

    private final List<AddressRange> trustedProxies;
    private final int ipv6Prefix;

    /**
     * @param ipv6Prefix how many leading bits of an IPv6 address stand for one client
     */
    public ClientAddresses(List<AddressRange> trustedProxies, int ipv6Prefix) {
        if (ipv6Prefix < 1 || ipv6Prefix > 128) {
            throw new InvalidSettingException("ipv6-prefix", ipv6Prefix, "write a number from 1 to 128");
        }
        this.trustedProxies = List.copyOf(trustedProxies);
        this.ipv6Prefix = ipv6Prefix;
    }

    /** The text that stands for the client: its address, or the network of its IPv6 address. */
    public String clientOf(HttpServletRequest request) {
        IpAddress address = addressOf(request);
        return address == null ? "unknown" : clientOf(address);
    }

    /** The text that stands for the client with that address. */
    public String clientOf(IpAddress address) {
        return address.isIpv4() ? address.toString() : address.network(ipv6Prefix) + "/" + ipv6Prefix;
    }

    /** The client's address, or {@code null} if the connection has none. */
    public @Nullable IpAddress addressOf(HttpServletRequest request) {
        Original original = Original.of(request);
        IpAddress peer = IpAddress.parse(original.peer());
        if (peer == null || !isTrusted(peer)) {
            return peer;
        }
        IpAddress one = original.forwardedFor().isEmpty() ? null : client(peer, entries(original.forwardedFor()));
        IpAddress other = original.forwarded().isEmpty() ? null : client(peer, forParameters(original.forwarded()));
        if (one != null && other != null) {
            return one.equals(other) ? one : peer;
        }
        return one != null ? one : other != null ? other : peer;
    }

    private IpAddress client(IpAddress peer, List<String> hops) {
        IpAddress nearest = peer;
        for (int i = hops.size() - 1; i >= 0 && hops.size() - i <= MOST_HOPS; i--) {
            IpAddress hop = IpAddress.parse(hops.get(i));
            if (hop == null) {
                break;
            }
            nearest = hop;
            if (!isTrusted(hop)) {
                break;
            }
        }
        return nearest;
    }

    boolean isTrusted(IpAddress address) {
        for (AddressRange range : trustedProxies) {
            if (range.contains(address)) {
                return true;
            }
        }
        return false;
    }

    private static List<String> entries(List<String> lines) {
        List<String> entries = new ArrayList<>();
        for (String line : lines) {
            Collections.addAll(entries, line.split(",", -1));
        }
        return entries;
    }

    /** The {@code for} of each element of {@code Forwarded}; an element without one is an unknown hop. */
    private static List<String> forParameters(List<String> lines) {
        List<String> hops = new ArrayList<>();
        for (String element : entries(lines)) {
            String hop = "";
            for (String pair : element.split(";", -1)) {
                String stripped = pair.strip();
                if (stripped.toLowerCase(Locale.ROOT).startsWith("for=")) {
                    hop = stripped.substring("for=".length());
                }
            }
            hops.add(hop);
        }
        return hops;
    }

    /**
     * The connection and the headers as they came in.
     *
     * @param peer the address at the other end
     */
    record Original(String peer, List<String> forwardedFor, List<String> forwarded) {

        static Original of(HttpServletRequest request) {
            if (request.getAttribute(ORIGINAL) instanceof Original original) {
                return original;
            }
            HttpServletRequest bare = request;
            while (bare instanceof HttpServletRequestWrapper wrapper) {
                ServletRequest wrapped = wrapper.getRequest();
                if (!(wrapped instanceof HttpServletRequest http)) {
                    break;
                }
                bare = http;
            }
            return of(bare.getRemoteAddr(), bare);
        }

        static Original of(String peer, HttpServletRequest request) {
            return new Original(
                    peer,
                    Collections.list(request.getHeaders(X_FORWARDED_FOR)),
                    Collections.list(request.getHeaders(FORWARDED)));
        }
    }
}
