package dev.ratelimit.concurrency;

import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** A {@link LimiterProcess} as seen from the test: a JVM of its own on the class path of this one. */
final class LimiterChild implements AutoCloseable {

    private static final Logger log = LoggerFactory.getLogger(LimiterChild.class);

    private final Process process;
    private final BufferedReader output;

    private LimiterChild(Process process) {
        this.process = process;
        this.output = new BufferedReader(new InputStreamReader(process.getInputStream(), StandardCharsets.UTF_8));
    }

    static LimiterChild start(String... arguments) {
        return start(Map.of(), arguments);
    }

    static LimiterChild start(Map<String, String> environment, String... arguments) {
        return new LimiterChild(start(builder(environment, arguments)));
    }

    /** A child whose output goes to a file, where it is still whole after the child was killed. */
    static Process startInto(Path file, String... arguments) {
        return start(builder(Map.of(), arguments).redirectOutput(file.toFile()));
    }

    private static Process start(ProcessBuilder builder) {
        try {
            return builder.start();
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    private static ProcessBuilder builder(Map<String, String> environment, String... arguments) {
        List<String> command = new ArrayList<>(List.of(
                Path.of(System.getProperty("java.home"), "bin", "java").toString(),
                "-Xmx128m",
                "-XX:+UseSerialGC",
                "-XX:TieredStopAtLevel=1"));
        if (Runtime.version().feature() >= 24) {
            command.add("--enable-native-access=ALL-UNNAMED");
        }
        command.addAll(
                List.of("-cp", System.getProperty("java.class.path"), "dev.ratelimit.concurrency.LimiterProcess"));
        command.addAll(List.of(arguments));
        ProcessBuilder builder = new ProcessBuilder(command).redirectError(ProcessBuilder.Redirect.INHERIT);
        builder.environment().putAll(environment);
        return builder;
    }

    /** The next line that is meant for the test. */
    String line() throws IOException {
        for (String line = output.readLine(); line != null; line = output.readLine()) {
            if (line.startsWith(LimiterProcess.MARK)) {
                return line.substring(LimiterProcess.MARK.length());
            }
            log.info("[child {}] {}", process.pid(), line);
        }
        throw new AssertionError("the process ended before it said what was asked of it");
    }

    /** Lets it go on. */
    void signal() throws IOException {
        process.getOutputStream().write('\n');
        process.getOutputStream().flush();
    }

    @Override
    public void close() {
        try {
            process.getOutputStream().close();
            if (!process.waitFor(10, TimeUnit.SECONDS)) {
                process.destroyForcibly();
            }
        } catch (IOException e) {
            process.destroyForcibly();
        } catch (InterruptedException e) {
            process.destroyForcibly();
            Thread.currentThread().interrupt();
        }
    }
}
