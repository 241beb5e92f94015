package dev.ratelimit.dashboard;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.net.URL;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Collections;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.stream.Stream;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;
import org.springframework.aot.hint.RuntimeHints;
import org.springframework.aot.hint.predicate.RuntimeHintsPredicates;
import org.springframework.mock.env.MockEnvironment;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;

/** The files of the page, and the description of the properties. */
class FilesTest {

    private static final Path PAGE = Path.of("src/main/resources/dev/ratelimit/dashboard/page");

    static List<Path> files() {
        try (Stream<Path> files = Files.list(PAGE)) {
            return files.sorted().toList();
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    @Test
    @DisplayName("Every file of the page is served, and taken into a native image")
    void served() {
        RuntimeHints hints = new RuntimeHints();
        new DashboardRuntimeHints().registerHints(hints, null);

        assertThat(files().stream().map(file -> file.getFileName().toString()))
                .containsExactlyInAnyOrderElementsOf(Assets.NAMES)
                .allMatch(name -> RuntimeHintsPredicates.resource()
                        .forResource("dev/ratelimit/dashboard/page/" + name)
                        .test(hints));
    }

    @ParameterizedTest
    @MethodSource("files")
    @DisplayName("No file makes markup of text, has inline scripts or styles, or names another host")
    void harmless(Path file) throws IOException {
        String text =
                Files.readString(file).replace("http://www.w3.org/2000/svg", "").replace("https://shop.example", "");

        assertThat(text)
                .doesNotContainPattern("(?i)innerHTML|outerHTML|insertAdjacentHTML|document\\.write|DOMParser|eval\\(")
                .doesNotContainPattern("(?i)<[a-z][^>]* (on[a-z]+|style)=|<style|<script>")
                .doesNotContainPattern("(?i)https?://|@import");
    }

    @Test
    @DisplayName("The properties have the defaults that editors show")
    void properties() throws IOException {
        Map<String, String> described = new HashMap<>();
        for (URL url : Collections.list(
                FilesTest.class.getClassLoader().getResources("META-INF/spring-configuration-metadata.json"))) {
            try (InputStream file = url.openStream()) {
                for (JsonNode property :
                        JsonMapper.builder().build().readTree(file).path("properties")) {
                    String name = property.path("name").asString();
                    if (name.startsWith(DashboardProperties.PREFIX + ".")) {
                        described.put(
                                name.substring(DashboardProperties.PREFIX.length() + 1),
                                property.path("defaultValue").asString());
                    }
                }
            }
        }
        DashboardProperties read = DashboardProperties.of(new MockEnvironment());
        assertThat(described)
                .isEqualTo(Map.of(
                        "path", read.path(),
                        "view-authority", read.viewAuthority(),
                        "steer-authority", read.steerAuthority(),
                        "unprotected", Boolean.toString(read.unprotected())));
    }
}
