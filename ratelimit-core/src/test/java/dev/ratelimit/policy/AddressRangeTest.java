package dev.ratelimit.policy;

import static org.assertj.core.api.Assertions.assertThat;

import dev.ratelimit.IpAddress;
import java.net.InetAddress;
import java.net.UnknownHostException;
import java.util.Objects;
import java.util.Random;
import java.util.regex.Pattern;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class AddressRangeTest {

    @ParameterizedTest
    @ValueSource(ints = {4, 16})
    @DisplayName("The patterns of a range match the texts of its addresses, and of no others")
    void patterns(int bytes) throws UnknownHostException {
        long seed = new Random().nextLong();
        Random random = new Random(seed);
        for (int i = 0; i < 20_000; i++) {
            IpAddress address = address(random, bytes);
            int prefix = random.nextInt(8 * bytes + 1);
            // Near the range, so that both sides of its ends are met.
            IpAddress base = changed(address, random.nextInt(8 * bytes));
            AddressRange range = Objects.requireNonNull(AddressRange.around(base + "/" + prefix));

            Pattern pattern = Pattern.compile(String.join("|", range.patterns()).replace("*", ".*"));

            assertThat(pattern.matcher(address.toString()).matches())
                    .as("%s in %s, seed %s", address, range, seed)
                    .isEqualTo(range.contains(address));
        }
    }

    /** Many parts are small, since they have fewer digits. */
    private static IpAddress address(Random random, int bytes) throws UnknownHostException {
        byte[] address = new byte[bytes];
        for (int i = 0; i < bytes; i++) {
            address[i] = (byte) (random.nextInt(256) >> random.nextInt(9));
        }
        return parsed(address);
    }

    private static IpAddress changed(IpAddress address, int bit) throws UnknownHostException {
        byte[] bytes = InetAddress.getByName(address.toString()).getAddress();
        bytes[bit / 8] ^= (byte) (0x80 >>> bit % 8);
        return parsed(bytes);
    }

    private static IpAddress parsed(byte[] bytes) throws UnknownHostException {
        return Objects.requireNonNull(
                IpAddress.parse(InetAddress.getByAddress(bytes).getHostAddress()));
    }
}
