package dev.ratelimit.policy;

import dev.ratelimit.setting.InvalidSettingException;
import dev.ratelimit.support.IpAddress;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** A range of addresses: {@code 10.0.0.0/8}, {@code 2001:db8::/32}, or a single address. */
public final class AddressRange {

    private final IpAddress network;
    private final int prefix;

    private AddressRange(IpAddress network, int prefix) {
        this.network = network;
        this.prefix = prefix;
    }

    /** Reads a range; bits behind the prefix must be zero. */
    public static AddressRange parse(String text) {
        String written = text.strip();
        int slash = written.indexOf('/');
        IpAddress address = IpAddress.parse(slash < 0 ? written : written.substring(0, slash));
        Integer prefix = address == null ? null : prefix(slash < 0 ? null : written.substring(slash + 1), address);
        if (address == null || prefix == null) {
            throw new InvalidSettingException(
                    "address range", text, "write one such as 10.0.0.0/8, 2001:db8::/32 or 192.0.2.7");
        }
        if (!address.network(prefix).equals(address)) {
            throw new InvalidSettingException(
                    "address range",
                    text,
                    "write " + address.network(prefix) + "/" + prefix + ", without bits behind the prefix");
        }
        return new AddressRange(address, prefix);
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
