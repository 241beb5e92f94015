package guide;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** JDK 24 and later warn when SQLite loads its native library, unless the manifest of the executable jar allows it. */
class NativeAccessTest {

    private static final int FIRST_THAT_WARNS = 24;

    private static final Path JAR = Documents.ROOT.resolve("examples/basic/target/basic.jar");

    private static final String WARNING = "enable-native-access";

    @TempDir
    Path folder;

    private Path java;

    @BeforeEach
    void find() {
        assumeTrue(Files.exists(JAR), JAR.getFileName() + " is not built: run mvn package before, or mvn verify");
        java = homes().filter(home -> version(home) >= FIRST_THAT_WARNS)
                .map(home -> home.resolve("bin/java"))
                .findFirst()
                .orElse(null);
        assumeTrue(java != null, "no JDK " + FIRST_THAT_WARNS + " or later is installed");
    }

    @Test
    void startsWithoutAWarning() throws Exception {
        assertThat(errorsOfAStart("-jar", JAR.toString())).doesNotContain(WARNING, "native");
    }

    /** Otherwise the test above could not fail. */
    @Test
    void warnsIfTheManifestIsNotRead() throws Exception {
        assertThat(errorsOfAStart("-cp", JAR.toString(), "org.springframework.boot.loader.launch.JarLauncher"))
                .contains(WARNING);
    }

    private String errorsOfAStart(String... options) throws IOException, InterruptedException {
        List<String> command = new ArrayList<>(List.of(java.toString(), "-Xmx128m"));
        command.addAll(List.of(options));
        command.add("--server.port=0");
        Path output = folder.resolve("output.txt");
        Path errors = folder.resolve("errors.txt");
        Process process = new ProcessBuilder(command)
                .directory(folder.toFile())
                .redirectOutput(output.toFile())
                .redirectError(errors.toFile())
                .start();
        try {
            Awaitility.await()
                    .atMost(Duration.ofMinutes(2)) // seconds, but other builds may run on the machine
                    .until(() -> Files.readString(output).contains("Started BasicApplication") || !process.isAlive());
            assertThat(output).content().contains("Started BasicApplication");
            return Files.readString(errors);
        } finally {
            process.destroy();
            process.waitFor();
        }
    }

    /** The JDK of this test, those of variables such as {@code JAVA_HOME_25_X64}, and those of the system. */
    private static Stream<Path> homes() {
        Stream<Path> variables = System.getenv().entrySet().stream()
                .filter(variable -> variable.getKey().startsWith("JAVA_HOME"))
                .map(Map.Entry::getValue)
                .map(Path::of);
        return Stream.of(Stream.of(Path.of(System.getProperty("java.home"))), variables, installed())
                .flatMap(homes -> homes);
    }

    private static Stream<Path> installed() {
        try (Stream<Path> homes = Files.list(Path.of("/usr/lib/jvm"))) {
            return homes.sorted().toList().stream();
        } catch (IOException e) {
            return Stream.empty(); // not every system has this folder
        }
    }

    /** 0 if the folder has no JDK. */
    private static int version(Path home) {
        Path release = home.resolve("release");
        if (!Files.exists(release) || !Files.isExecutable(home.resolve("bin/java"))) {
            return 0;
        }
        Matcher version = Pattern.compile("(?m)^JAVA_VERSION=\"(\\d+)").matcher(Documents.read(release));
        return version.find() ? Integer.parseInt(version.group(1)) : 0;
    }
}
