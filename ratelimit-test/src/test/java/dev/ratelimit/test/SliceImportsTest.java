package dev.ratelimit.test;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.List;
import java.util.stream.StreamSupport;
import org.junit.jupiter.api.Test;
import org.springframework.boot.autoconfigure.AutoConfiguration;
import org.springframework.boot.context.annotation.ImportCandidates;

/** A slice with {@link AutoConfigureRateLimit} has all that a whole application has. */
class SliceImportsTest {

    private static final String OURS = "dev.ratelimit.";

    @Test
    void allOfOurAutoConfigurationsAreListed() {
        assertThat(listed(AutoConfigureRateLimit.class))
                .as(
                        "META-INF/spring/%s.imports, compared with all auto-configurations",
                        AutoConfigureRateLimit.class.getName())
                .containsExactlyInAnyOrderElementsOf(listed(AutoConfiguration.class));
    }

    private static List<String> listed(Class<?> annotation) {
        return StreamSupport.stream(ImportCandidates.load(annotation, null).spliterator(), false)
                .filter(name -> name.startsWith(OURS))
                .toList();
    }
}
