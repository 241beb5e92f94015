package guide;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Map;
import java.util.stream.Stream;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/** The pictures in docs/algorithms.md show what the arithmetic does today. */
class AlgorithmPictureTest {

    private static final Map<String, String> PICTURES = AlgorithmPicture.all();

    static Stream<String> algorithms() {
        return PICTURES.keySet().stream();
    }

    @ParameterizedTest
    @MethodSource("algorithms")
    void pictureIsThatOfTheArithmetic(String algorithm) throws IOException {
        Path file = Documents.ROOT.resolve("docs/images/" + algorithm + ".svg");
        if (Boolean.getBoolean("documents.update")) {
            Files.writeString(file, PICTURES.get(algorithm));
        }

        assertThat(file).hasContent(PICTURES.get(algorithm));
    }
}
