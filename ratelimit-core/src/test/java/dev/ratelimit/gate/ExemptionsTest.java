package dev.ratelimit.gate;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.ratelimit.IpAddress;
import dev.ratelimit.policy.AddressRange;
import dev.ratelimit.policy.PathReadings;
import dev.ratelimit.setting.InvalidSettingException;
import java.util.List;
import java.util.Set;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.springframework.web.util.pattern.PathPatternParser;

class ExemptionsTest {

    private static final Exemptions EXEMPTIONS = new Exemptions(
            Set.of("ROLE_BOSS"),
            List.of(AddressRange.parse("10.0.0.0/8")),
            List.of(AddressRange.parse("10.0.0.1")),
            List.of("/health/**", "/public/{page}"),
            PathPatternParser.defaultInstance);

    private static boolean isExempt(PathReadings path, @Nullable IpAddress address) {
        return EXEMPTIONS.exempt(new Arrival("GET", false, path, address, null, null));
    }

    private static boolean isExempt(String path) {
        return isExempt(PathReadings.of(path), IpAddress.parse("192.0.2.1"));
    }

    @ParameterizedTest
    @ValueSource(strings = {"/health", "/health/", "/health/live", "/public/a", "/public/%61", "/health//x"})
    void pathThatIsExemptInAllReadings(String path) {
        assertThat(isExempt(path)).isTrue();
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "/healthy",
                "/pay",
                "/health/../pay",
                "/health/%2e%2e/pay",
                "/health/..;x/pay",
                "/public/a/",
                "/public/a/b",
                "/public/x/../../pay",
                "//health/../pay"
            })
    void pathOfWhichOneReadingIsNotExempt(String path) {
        assertThat(isExempt(path)).isFalse();
    }

    @Test
    void pathThatCannotBeReadIsNotExempt() {
        assertThat(isExempt(PathReadings.unreadable("/health;x=%zz"), null)).isFalse();
    }

    @Test
    void readingsMustMatchTheSamePattern() {
        assertThat(isExempt("/public/../health/live"))
                .as("/public/../health/live is matched by neither pattern as it was sent")
                .isFalse();
    }

    @Test
    void addressIsExemptUnlessItIsAProxy() {
        PathReadings pay = PathReadings.of("/pay");

        assertThat(isExempt(pay, IpAddress.parse("10.9.9.9"))).isTrue();
        assertThat(isExempt(pay, IpAddress.parse("10.0.0.1"))).isFalse();
        assertThat(isExempt(pay, IpAddress.parse("11.0.0.1"))).isFalse();
        assertThat(isExempt(pay, null)).isFalse();
    }

    @Test
    void oneOfSeveralAuthoritiesIsEnough() {
        assertThat(EXEMPTIONS.exempt(Set.of("ROLE_USER", "ROLE_BOSS"))).isTrue();
        assertThat(EXEMPTIONS.exempt(Set.of("ROLE_USER"))).isFalse();
        assertThat(EXEMPTIONS.exempt(Set.of())).isFalse();
        assertThat(Exemptions.NONE.exempt(Set.of("ROLE_BOSS"))).isFalse();
    }

    @Test
    void patternThatCouldNeverMatchIsRefused() {
        assertThatThrownBy(() -> new Exemptions(
                        Set.of(), List.of(), List.of(), List.of("health"), PathPatternParser.defaultInstance))
                .isInstanceOf(InvalidSettingException.class)
                .hasMessageContaining("health");
    }
}
