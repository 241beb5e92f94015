package dev.ratelimit.support;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.List;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class SpellingTest {

    private static final List<String> KNOWN =
            List.of("max-requests", "window", "zone", "sliding-window", "sliding-log", "path");

    @ParameterizedTest
    @CsvSource({
        "max-request, max-requests",
        "maxRequests, max-requests",
        "MAX_REQEUSTS, max-requests",
        "requests, max-requests",
        "windw, window",
        "sliding_windw, sliding-window",
        "slidinglog, sliding-log",
        "zoen, zone",
        "file,",
        "x,",
        "burst,",
    })
    void nearestWordIsFound(String word, String meant) {
        assertThat(Spelling.nearest(word, KNOWN)).isEqualTo(meant);
    }

    @ParameterizedTest
    @CsvSource({
        "requestUri, requestURI",
        "methd, method",
        "mehtod, method",
        "mathod, method",
        "NAME, name",
        "methods,",
        "message,",
        "nam,",
        "methot1,",
    })
    void slipIsOneLetter(String word, String meant) {
        assertThat(Spelling.slip(word, List.of("requestURI", "method", "name", "messages")))
                .isEqualTo(meant);
    }
}
