package dev.ratelimit;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.ratelimit.policy.AddressRange;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

class IpAddressTest {

    @ParameterizedTest
    @CsvSource(
            quoteCharacter = '\'',
            value = {
                "203.0.113.7, 203.0.113.7",
                "' 203.0.113.7 ', 203.0.113.7",
                "203.0.113.7:443, 203.0.113.7",
                "'\"203.0.113.7:443\"', 203.0.113.7",
                "2001:db8::1, 2001:db8:0:0:0:0:0:1",
                "[2001:db8::1], 2001:db8:0:0:0:0:0:1",
                "[2001:db8::1]:8080, 2001:db8:0:0:0:0:0:1",
                "'\"[2001:db8::1]:8080\"', 2001:db8:0:0:0:0:0:1",
                "fe80::1%eth0, fe80:0:0:0:0:0:0:1",
                "::ffff:203.0.113.7, 203.0.113.7",
                "[::FFFF:cb00:7107]:80, 203.0.113.7",
                "64:ff9b::203.0.113.7, 203.0.113.7",
                "[64:FF9B::cb00:7107]:80, 203.0.113.7",
                "64:ff9b:1::1, 64:ff9b:1:0:0:0:0:1",
            })
    void readsAnAddressHoweverItIsWritten(String written, String address) {
        assertThat(IpAddress.parse(written)).hasToString(address);
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "",
                "unknown",
                "_hidden",
                "example.org",
                "localhost",
                "256.0.0.1",
                "1.2.3",
                "1.2.3.4.5",
                "0x7f.0.0.1",
                "1.2.3.4/8",
                "[2001:db8::1",
                "2001:db8:::1",
                ":",
                "12345::",
                "1.2.3.4;5",
                "[1.2.3.4]x",
                "::g"
            })
    void refusesWhatIsNoAddressWithoutAskingANameServer(String written) {
        assertThat(IpAddress.parse(written)).isNull();
    }

    /** Each client behind NAT64 is a client of its own, though all its addresses there lie in one /64. */
    @Test
    void rangeOfTranslatedAddressesIsOneOfIpv4() {
        assertThat(AddressRange.parse("64:ff9b::203.0.113.0/120")).hasToString("203.0.113.0/24");
        assertThat(AddressRange.parse("::ffff:10.0.0.0/104")).hasToString("10.0.0.0/8");
        assertThat(AddressRange.parse("64:ff9b::/96")).hasToString("0.0.0.0/0");
        assertThat(AddressRange.around("64:ff9b::/32")).isNull();
    }

    @Test
    void networkHasTheBitsBehindThePrefixCleared() {
        assertThat(IpAddress.parse("2001:db8:1:2:3:4:5:6").network(64)).hasToString("2001:db8:1:2:0:0:0:0");
        assertThat(IpAddress.parse("203.0.113.255").network(25)).hasToString("203.0.113.128");
    }

    @Test
    void rangeContainsWhatSharesItsPrefix() {
        AddressRange range = AddressRange.parse("10.0.0.0/8");
        assertThat(range.contains(IpAddress.parse("10.255.1.2"))).isTrue();
        assertThat(range.contains(IpAddress.parse("::ffff:10.1.1.1"))).isTrue();
        assertThat(range.contains(IpAddress.parse("11.0.0.1"))).isFalse();
        assertThat(range.contains(IpAddress.parse("a00::1"))).isFalse();
        assertThat(AddressRange.parse("2001:db8::/33").contains(IpAddress.parse("2001:db8:8000::1")))
                .isFalse();
        assertThat(AddressRange.parse("192.0.2.7").contains(IpAddress.parse("192.0.2.7")))
                .isTrue();
        assertThat(AddressRange.parse("0.0.0.0/0").contains(IpAddress.parse("198.51.100.1")))
                .isTrue();
    }

    @Test
    void rangeThatCannotBeRightSaysWhatToWriteInstead() {
        assertThatThrownBy(() -> AddressRange.parse("10.0.0.0/33"))
                .hasMessage("address range is '10.0.0.0/33';"
                        + " write one such as 10.0.0.0/8, 2001:db8::/32 or 192.0.2.7");
        assertThatThrownBy(() -> AddressRange.parse("10.1.0.0/8"))
                .hasMessage("address range is '10.1.0.0/8'; write 10.0.0.0/8, without bits behind the prefix");
    }
}
