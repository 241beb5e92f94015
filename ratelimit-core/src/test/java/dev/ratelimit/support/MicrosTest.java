package dev.ratelimit.support;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.time.Instant;
import org.junit.jupiter.api.Test;

class MicrosTest {

    @Test
    void momentIsTheMicrosecondItLiesIn() {
        assertThat(Micros.of(Instant.ofEpochSecond(1, 2_999))).isEqualTo(1_000_002);
        assertThat(Micros.toInstant(Micros.of(Instant.parse("9999-12-31T23:59:59.999999Z"))))
                .isEqualTo("9999-12-31T23:59:59.999999Z");
    }

    @Test
    void momentThatCannotBeStoredIsNamed() {
        assertThatThrownBy(() -> Micros.of(Instant.MAX))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessage("the moment is +1000000000-12-31T23:59:59.999999999Z;"
                        + " write one of the years that microseconds can tell, such as 9999");
    }
}
