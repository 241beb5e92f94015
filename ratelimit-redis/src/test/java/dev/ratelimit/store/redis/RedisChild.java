package dev.ratelimit.store.redis;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** A process of a test, which talks to it by lines on its standard streams. */
final class RedisChild implements AutoCloseable {

    /** Begins the lines that are meant for the test. */
    private static final String MARK = "limiter> ";

    private final Process process;
    private final BufferedReader output;

    private RedisChild(Process process) {
        this.process = process;
        this.output = new BufferedReader(new InputStreamReader(process.getInputStream(), StandardCharsets.UTF_8));
    }

    static RedisChild start(Class<?> main, List<String> arguments) throws IOException {
        List<String> command = new ArrayList<>(List.of(
                Path.of(System.getProperty("java.home"), "bin", "java").toString(),
                "-Xmx128m",
                "-XX:+UseSerialGC",
                "-XX:TieredStopAtLevel=1",
                "-cp",
                System.getProperty("java.class.path"),
                main.getName()));
        command.addAll(arguments);
        return new RedisChild(new ProcessBuilder(command)
                .redirectError(ProcessBuilder.Redirect.INHERIT)
                .start());
    }

    /** Says a line to the test, in the process itself. One write for each line: a killed process leaves whole ones. */
    static void say(String line) {
        byte[] bytes = (MARK + line + "\n").getBytes(StandardCharsets.UTF_8);
        synchronized (RedisChild.class) {
            System.out.write(bytes, 0, bytes.length);
            System.out.flush();
        }
    }

    /** The next line that is meant for the test. */
    String line() throws IOException {
        String line = lineIfAny();
        if (line == null) {
            throw new AssertionError("the process ended before it said what was asked of it");
        }
        return line;
    }

    /** The same, or {@code null} if the process has ended. */
    @Nullable
    String lineIfAny() throws IOException {
        for (String line = output.readLine(); line != null; line = output.readLine()) {
            if (line.startsWith(MARK)) {
                return line.substring(MARK.length());
            }
        }
        return null;
    }

    /** Lets it go on. */
    void signal() throws IOException {
        process.getOutputStream().write('\n');
        process.getOutputStream().flush();
    }

    /** Ends it at once, as a crash does. Its handle leaves the streams open: what it has said before can still be read. */
    void kill() {
        assertThat(process.toHandle().destroyForcibly()).as("killed").isTrue();
    }

    @Override
    public void close() {
        process.destroyForcibly();
    }
}
