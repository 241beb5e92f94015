package dev.ratelimit.policy;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;
import org.springframework.http.server.PathContainer;

class PathReadingsTest {

    private static List<String> readings(String path) {
        return PathReadings.of(path).all().stream().map(PathContainer::value).toList();
    }

    @ParameterizedTest
    @ValueSource(strings = {"/", "/api", "/api/games/7", "/a.b/~c"})
    void plainPathHasOneReading(String path) {
        assertThat(readings(path)).containsExactly(path);
    }

    @ParameterizedTest
    @CsvSource({
        "/api/, /api/ /api",
        "//api//x, //api//x /api/x",
        "/api/./x, /api/./x /api/x",
        "/health/../pay, /health/../pay /pay",
        "/health/%2e%2e/pay, /health/%2e%2e/pay /pay",
        "/health/..;a=b/pay, /health/..;a=b/pay /pay",
        "/%61pi, /%61pi /api",
        "/api;x=1/y, /api;x=1/y /api/y",
        "/api/x/.., /api/x/.. /api/ /api",
        "/api//, /api// /api/ /api"
    })
    void spellingHasEveryReading(String path, String expected) {
        assertThat(readings(path)).containsExactlyInAnyOrder(expected.split(" ", -1));
    }

    @Test
    void firstReadingIsThePathAsItWasSent() {
        assertThat(PathReadings.of("/%61pi/").sent()).isEqualTo("/%61pi/");
    }

    @ParameterizedTest
    @CsvSource({
        "/api/x, /api/x",
        "/api/x;jsessionid=SECRET, /api/x",
        "/api;a=b;c/x;d, /api/x",
        "/api;x=%zz/y, /api/y",
        "/api/%3B, /api/%3B"
    })
    void parametersAreNotRecorded(String sent, String recorded) {
        assertThat(PathReadings.unreadable(sent).withoutParameters()).isEqualTo(recorded);
    }

    @Test
    void pathThatCannotBeReadHasNoReading() {
        PathReadings unreadable = PathReadings.unreadable("/api;x=%zz");

        assertThat(unreadable.sent()).isEqualTo("/api;x=%zz");
        assertThat(unreadable.all()).isEmpty();
        assertThat(unreadable.isReadable()).isFalse();
        assertThat(PathReadings.of("/api").isReadable()).isTrue();
    }

    @Test
    void pathAboveTheApplicationIsRefused() {
        assertThatThrownBy(() -> PathReadings.of("/../x"))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageContaining("/../x");
    }

    @Test
    void pathThatCannotBeDecodedIsRefused() {
        assertThatThrownBy(() -> PathReadings.of("/api/100%/x"))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessage(
                        "the path is '/api/100%/x'; write two hexadecimal digits after each %, as in /api/my%20games");
    }

    /** No request has such a path, and no rule would match it: usage and explain must not call it unlimited. */
    @ParameterizedTest
    @ValueSource(strings = {"api/games", "", "/api/games?page=2", "http://localhost/api"})
    void pathThatNoRequestHasIsRefused(String path) {
        assertThatThrownBy(() -> PathReadings.of(path))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessage(
                        "the path is '" + path + "'; begin it with / and leave out what follows a ?, as in /api/games");
    }
}
