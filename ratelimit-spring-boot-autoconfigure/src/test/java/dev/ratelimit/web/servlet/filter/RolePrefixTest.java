package dev.ratelimit.web.servlet.filter;

import static org.assertj.core.api.Assertions.assertThat;

import dev.ratelimit.web.servlet.Authorities;
import java.util.List;
import java.util.Set;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.springframework.boot.test.system.CapturedOutput;
import org.springframework.boot.test.system.OutputCaptureExtension;
import org.springframework.mock.web.MockHttpServletRequest;
import org.springframework.util.StringUtils;

/** The authority {@code ROLE_ADMIN} is easily taken for {@code ADMIN}. */
@ExtendWith(OutputCaptureExtension.class)
class RolePrefixTest {

    private static final String LINE =
            "A caller has the authority ROLE_ADMIN, but the settings of rate limits name ADMIN";

    private Set<String> granted = Set.of();
    private final Authorities authorities = request -> granted;

    private void request(Authorities watched, String... all) {
        granted = Set.of(all);
        assertThat(watched.of(new MockHttpServletRequest())).isSameAs(granted);
    }

    @Test
    void callerWithThePrefixIsWarnedOfOnce(CapturedOutput output) {
        Authorities watched = RolePrefix.watching(authorities, List.of("ADMIN", "PARTNER"));
        request(watched);
        request(watched, "ROLE_USER");
        assertThat(output).doesNotContain("A caller has");

        request(watched, "ROLE_ADMIN", "ROLE_USER");
        request(watched, "ROLE_ADMIN");

        assertThat(StringUtils.countOccurrencesOf(output.getAll(), LINE)).isEqualTo(1);
        assertThat(output).contains("write ROLE_ADMIN.").doesNotContain("PARTNER");
    }

    @Test
    void authorityThatCallersHaveIsNoMistake(CapturedOutput output) {
        Authorities watched = RolePrefix.watching(authorities, List.of("ADMIN"));
        request(watched, "ADMIN", "ROLE_ADMIN");
        request(watched, "ROLE_ADMIN");

        assertThat(output).doesNotContain("A caller has");
    }

    @Test
    void nothingIsLookedForIfEveryAuthorityHasThePrefixOrIsNamedWithItToo() {
        assertThat(RolePrefix.watching(authorities, List.of("ROLE_ADMIN", "ADMIN", "ROLE_USER")))
                .isSameAs(authorities);
    }
}
