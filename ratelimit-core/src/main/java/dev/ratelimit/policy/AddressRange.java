package dev.ratelimit.policy;

import dev.ratelimit.setting.InvalidSettingException;
import dev.ratelimit.support.IpAddress;
import java.util.Arrays;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** A range of addresses: {@code 10.0.0.0/8}, {@code 2001:db8::/32}, or a single address. */
public final class AddressRange {

    /** In the text of an IPv6 address, between two colons. */
    private static final int BITS_OF_GROUP = 16;

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
        IpAddress address = IpAddress.parse(slash < 0 ? written : written.substring(0, slash));
        Integer prefix = address == null ? null : prefix(slash < 0 ? null : written.substring(slash + 1), address);
        return address == null || prefix == null ? null : new AddressRange(address, prefix);
    }

    /** The range of all addresses that agree with this one in the prefix; {@code null} if the text is not a range. */
    public static @Nullable AddressRange around(String text) {
        AddressRange found = find(text);
        return found == null ? null : new AddressRange(found.network.network(found.prefix), found.prefix);
    }

    /** Whether it is one address. */
    public boolean isSingle() {
        return prefix == network.bits();
    }

    /**
     * The text that its addresses begin with, and no other: such as {@code 2001:db8:0:0:} for {@code 2001:db8::/64}; of a
     * single address, all of it. {@code null} if there is none.
     */
    public @Nullable String beginning() {
        if (isSingle()) {
            return network.toString();
        }
        if (network.isIpv4() || prefix == 0 || prefix % BITS_OF_GROUP != 0) {
            return null;
        }
        String[] groups = network.toString().split(":");
        return String.join(":", Arrays.asList(groups).subList(0, prefix / BITS_OF_GROUP)) + ":";
    }

    private static @Nullable Integer prefix(@Nullable String written, IpAddress address) {
        if (written == null) {
            return address.bits();
        }
        if (!written.matches("\\d{1,3}")) {
            return null;
        }
        int prefix = Integer.parseInt(written);
        return prefix <= address.bits() ? prefix : null;
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

    public boolean contains(IpAddress address) {
        return address.isIn(network, prefix);
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
