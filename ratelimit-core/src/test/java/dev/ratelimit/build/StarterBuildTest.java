package dev.ratelimit.build;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.api.Test;

/** The starter is a build file, so this reads it; {@link BuildsInStepTest} holds the other build equal to it. */
class StarterBuildTest {

    /** Without it, an application with this starter alone has neither logging nor YAML. */
    @Test
    void starterBringsTheStarterOfSpringBoot() throws Exception {
        String pom = Files.readString(Path.of("../ratelimit-spring-boot-starter/pom.xml"))
                .replaceAll("\\s+", "");

        assertThat(pom)
                .contains("<groupId>org.springframework.boot</groupId><artifactId>spring-boot-starter</artifactId>"
                        + "</dependency>");
    }
}
