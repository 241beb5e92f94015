package dev.ratelimit;

import java.net.InetAddress;
import java.net.UnknownHostException;
import java.util.Arrays;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/**
 * An address of the Internet Protocol, in its one normal form: an IPv4 address inside an IPv6 one is the IPv4 address, be it
 * mapped ({@code ::ffff:0:0/96}) or translated by NAT64 ({@code 64:ff9b::/96}). Reading one never asks a name server.
 */
public final class IpAddress {

    private static final Pattern IPV6 = Pattern.compile("[0-9A-Fa-f:]*:[0-9A-Fa-f:]*(?:\\d{1,3}(?:\\.\\d{1,3}){3})?");

    /** The well-known prefix of RFC 6052, before the 32 bits of an IPv4 address. */
    private static final byte[] NAT64 = {0, 0x64, (byte) 0xff, (byte) 0x9b, 0, 0, 0, 0, 0, 0, 0, 0};

    /** The longest way to write an address, with brackets, zone and port. */
    private static final int MOST_CHARACTERS = 100;

    private final byte[] bytes;

    private IpAddress(byte[] bytes) {
        this.bytes = bytes;
    }

    /**
     * Reads an address as it stands in headers: with or without a port, brackets, a zone and quotes.
     *
     * @return the address, or {@code null} if the text is none
     */
    public static @Nullable IpAddress parse(@Nullable String text) {
        if (text == null || text.length() > MOST_CHARACTERS) {
            return null;
        }
        String bare = withoutPort(withoutQuotes(text.strip()));
        int zone = bare.indexOf('%');
        if (zone >= 0) {
            bare = bare.substring(0, zone);
        }
        IpAddress ipv4 = ipv4(bare);
        return ipv4 != null ? ipv4 : IPV6.matcher(bare).matches() ? ipv6(bare) : null;
    }

    private static String withoutQuotes(String text) {
        return text.length() >= 2 && text.startsWith("\"") && text.endsWith("\"")
                ? text.substring(1, text.length() - 1)
                : text;
    }

    private static String withoutPort(String text) {
        if (text.startsWith("[")) {
            int end = text.indexOf(']');
            return end > 0 && text.substring(end + 1).matches("|:\\w{0,20}") ? text.substring(1, end) : "";
        }
        int colon = text.indexOf(':');
        return colon >= 0 && colon == text.lastIndexOf(':') ? text.substring(0, colon) : text;
    }

    /** Reads four numbers of one to three digits, without a regular expression: every request has such an address. */
    private static @Nullable IpAddress ipv4(String text) {
        byte[] bytes = new byte[4];
        int at = 0;
        for (int i = 0; i < bytes.length; i++) {
            int start = at;
            int part = 0;
            while (at < text.length() && at < start + 3 && text.charAt(at) >= '0' && text.charAt(at) <= '9') {
                part = 10 * part + text.charAt(at++) - '0';
            }
            boolean ends = i == 3 ? at == text.length() : at < text.length() && text.charAt(at++) == '.';
            if (at == start || !ends || part > 255) {
                return null;
            }
            bytes[i] = (byte) part;
        }
        return new IpAddress(bytes);
    }

    private static @Nullable IpAddress ipv6(String text) {
        try {
            // The pattern lets only literals through, which are read without asking a name server.
            return new IpAddress(withoutNat64(InetAddress.getByName(text).getAddress()));
        } catch (UnknownHostException e) {
            return null;
        }
    }

    /** Otherwise all clients behind NAT64 would lie in one /64, and share its count. */
    private static byte[] withoutNat64(byte[] address) {
        return address.length == 16 && Arrays.equals(address, 0, NAT64.length, NAT64, 0, NAT64.length)
                ? Arrays.copyOfRange(address, NAT64.length, address.length)
                : address;
    }

    public boolean isIpv4() {
        return bytes.length == 4;
    }

    /** The network of so many leading bits that this address lies in. */
    public IpAddress network(int prefix) {
        byte[] network = bytes.clone();
        for (int bit = prefix; bit < network.length * 8; bit++) {
            network[bit / 8] &= (byte) ~(0x80 >>> bit % 8);
        }
        return new IpAddress(network);
    }

    /** Whether the address and the network agree in so many leading bits. */
    public boolean isIn(IpAddress network, int prefix) {
        if (bytes.length != network.bytes.length) {
            return false;
        }
        int whole = prefix / 8;
        for (int i = 0; i < whole; i++) {
            if (bytes[i] != network.bytes[i]) {
                return false;
            }
        }
        int rest = prefix % 8;
        return rest == 0 || ((bytes[whole] ^ network.bytes[whole]) & (0xFF00 >>> rest) & 0xFF) == 0;
    }

    public int bits() {
        return bytes.length * 8;
    }

    @Override
    public boolean equals(Object other) {
        return other instanceof IpAddress address && Arrays.equals(bytes, address.bytes);
    }

    @Override
    public int hashCode() {
        return Arrays.hashCode(bytes);
    }

    /** The usual text; an IPv6 address without leading zeros and without {@code ::}. */
    @Override
    public String toString() {
        try {
            return InetAddress.getByAddress(bytes).getHostAddress();
        } catch (UnknownHostException e) {
            throw new IllegalStateException("an address has 4 or 16 bytes", e);
        }
    }
}
