package dev.ratelimit.policy;

import dev.ratelimit.IpAddress;
import dev.ratelimit.setting.InvalidSettingException;
import java.util.Arrays;
import java.util.List;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/** A range of addresses: {@code 10.0.0.0/8}, {@code 2001:db8::/32}, or a single address. */
public final class AddressRange {

    private static final int BITS_BEFORE_IPV4 = 96;

    /** Such as 10.0.0.0/8. */
    private static final int WIDEST_IPV4 = 8;

    /** Such as fc00::/7. */
    private static final int WIDEST_IPV6 = 7;

    private static final String HEX_DIGITS = "0123456789abcdef";

    private final IpAddress network;
    private final int prefix;

    private AddressRange(IpAddress network, int prefix) {
        this.network = network;
        this.prefix = prefix;
    }

    /** Reads a range; bits behind the prefix must be zero. */
    public static AddressRange parse(String text) {
        AddressRange range = find(text);
        if (range == null) {
            throw new InvalidSettingException(
                    "address range", text, "write one such as 10.0.0.0/8, 2001:db8::/32 or 192.0.2.7");
        }
        if (!range.network.network(range.prefix).equals(range.network)) {
            throw new InvalidSettingException(
                    "address range",
                    text,
                    "write " + range.network.network(range.prefix) + "/" + range.prefix
                            + ", without bits behind the prefix");
        }
        return range;
    }

    /** Reads an address and its prefix; {@code null} if the text is neither an address nor a range. */
    private static @Nullable AddressRange find(String text) {
        String written = text.strip();
        int slash = written.indexOf('/');
        String before = slash < 0 ? written : written.substring(0, slash);
        IpAddress address = IpAddress.parse(before);
        if (address == null) {
            return null;
        }
        // In an address such as ::ffff:10.0.0.0, the bits of the IPv4 address come last.
        int outer = address.isIpv4() && before.indexOf(':') != before.lastIndexOf(':') ? BITS_BEFORE_IPV4 : 0;
        Integer prefix = prefix(slash < 0 ? null : written.substring(slash + 1), outer, address);
        return prefix == null ? null : new AddressRange(address, prefix);
    }

    /** The range of all addresses that agree with this one in the prefix; {@code null} if the text is not a range. */
    public static @Nullable AddressRange around(String text) {
        AddressRange found = find(text);
        return found == null ? null : new AddressRange(found.network.network(found.prefix), found.prefix);
    }

    /**
     * Patterns for the texts of addresses: those in the range match one of them, and no others do. They consist of plain
     * characters, sets such as {@code [.]} or {@code [89]}, and a star in the end that stands for any rest, as in {@code GLOB}.
     */
    public List<String> patterns() {
        boolean ipv4 = network.isIpv4();
        int bitsOfPart = ipv4 ? 8 : 16;
        String separator = ipv4 ? "[.]" : ":";
        String[] parts = network.toString().split(separator);
        int whole = Math.min(prefix / bitsOfPart, parts.length - 1);
        String common =
                Arrays.stream(parts, 0, whole).map(part -> part + separator).collect(Collectors.joining());
        int first = Integer.parseInt(parts[whole], ipv4 ? 10 : 16);
        int last = first | ((1 << (bitsOfPart - (prefix - bitsOfPart * whole))) - 1);
        Stream<String> values =
                ipv4 ? IntStream.rangeClosed(first, last).mapToObj(Integer::toString) : hexadecimal(first, last);
        String rest = whole == parts.length - 1 ? "" : separator + "*";
        return values.map(value -> common + value + rest).toList();
    }

    /** Patterns for the numbers of such a block, one for each number of digits: there are no leading zeros. */
    private static Stream<String> hexadecimal(int first, int last) {
        return IntStream.rangeClosed(1, 4)
                .filter(digits -> first < 1 << (4 * digits) && last >= (digits == 1 ? 0 : 1 << (4 * (digits - 1))))
                .mapToObj(digits -> {
                    int lowest = Math.max(first, digits == 1 ? 0 : 1 << (4 * (digits - 1)));
                    int highest = Math.min(last, (1 << (4 * digits)) - 1);
                    return digitsBetween(Integer.toHexString(lowest), Integer.toHexString(highest));
                });
    }

    /** From the first digit in which they differ, the lower number has zeros, and the higher one has the highest digits. */
    private static String digitsBetween(String lowest, String highest) {
        StringBuilder pattern = new StringBuilder();
        for (int i = 0; i < lowest.length(); i++) {
            int from = HEX_DIGITS.indexOf(lowest.charAt(i));
            int to = HEX_DIGITS.indexOf(highest.charAt(i));
            String digits = HEX_DIGITS.substring(from, to + 1);
            pattern.append(from == to ? digits : "[" + digits + "]");
        }
        return pattern.toString();
    }

    private static @Nullable Integer prefix(@Nullable String written, int outer, IpAddress address) {
        if (written == null) {
            return address.bits();
        }
        if (!written.matches("\\d{1,3}")) {
            return null;
        }
        int prefix = Integer.parseInt(written) - outer;
        return prefix >= 0 && prefix <= address.bits() ? prefix : null;
    }

    /** Whether the address lies in one of the ranges. */
    public static boolean anyContains(List<AddressRange> ranges, IpAddress address) {
        for (AddressRange range : ranges) {
            if (range.contains(address)) {
                return true;
            }
        }
        return false;
    }

    /** Whether it is so wide that clients lie in it, too: wider than all networks that one owner has. */
    public boolean isOfTheInternet() {
        return prefix < (network.isIpv4() ? WIDEST_IPV4 : WIDEST_IPV6);
    }

    public boolean contains(IpAddress address) {
        return address.isIn(network, prefix);
    }

    /** Whether all addresses of the other range lie in this one. */
    public boolean contains(AddressRange other) {
        return prefix <= other.prefix && other.network.isIn(network, prefix);
    }

    @Override
    public boolean equals(Object other) {
        return other instanceof AddressRange range && prefix == range.prefix && network.equals(range.network);
    }

    @Override
    public int hashCode() {
        return 31 * network.hashCode() + prefix;
    }

    @Override
    public String toString() {
        return network + "/" + prefix;
    }
}
