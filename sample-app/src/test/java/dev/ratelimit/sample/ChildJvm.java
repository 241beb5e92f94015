package dev.ratelimit.sample;

import java.io.IOException;
import java.net.InetSocketAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;

/** The sample in a process of its own, on the class path of this one. */
final class ChildJvm implements AutoCloseable {

    private static final Duration LONGEST_WAIT = Duration.ofMinutes(3);

    private final Process process;
    private final Path log;
    private final int port;

    private ChildJvm(Process process, Path log, int port) {
        this.process = process;
        this.log = log;
        this.port = port;
    }

    static String java() {
        return Path.of(System.getProperty("java.home"), "bin", "java").toString();
    }

    /** Starts the sample, and returns as soon as its port is open. */
    static ChildJvm startSample(Path folder, String... arguments) throws IOException {
        int port = freePort();
        Path log = Files.createTempFile(folder, "sample", ".log");
        List<String> command =
                new ArrayList<>(List.of(java(), "-Xmx256m", "-XX:+UseSerialGC", "-XX:TieredStopAtLevel=1"));
        if (Runtime.version().feature() >= 24) {
            command.add("--enable-native-access=ALL-UNNAMED");
        }
        command.addAll(List.of(
                "-cp",
                System.getProperty("java.class.path"),
                SampleApplication.class.getName(),
                "--server.port=" + port));
        command.addAll(List.of(arguments));
        Process process = new ProcessBuilder(command)
                .directory(folder.toFile())
                .redirectErrorStream(true)
                .redirectOutput(log.toFile())
                .start();
        ChildJvm child = new ChildJvm(process, log, port);
        try {
            child.awaitPort();
            return child;
        } catch (IOException | RuntimeException e) {
            child.close();
            throw e;
        }
    }

    private static int freePort() throws IOException {
        try (ServerSocket socket = new ServerSocket(0)) {
            return socket.getLocalPort();
        }
    }

    private void awaitPort() throws IOException {
        long end = System.nanoTime() + LONGEST_WAIT.toNanos();
        while (!isOpen()) {
            if (!process.isAlive() || System.nanoTime() - end > 0) {
                throw new IllegalStateException("the sample did not start:\n" + log());
            }
            try {
                Thread.sleep(20);
            } catch (InterruptedException e) {
                Thread.currentThread().interrupt();
                throw new IllegalStateException(e);
            }
        }
    }

    private boolean isOpen() {
        try (Socket socket = new Socket()) {
            socket.connect(new InetSocketAddress("127.0.0.1", port), 1_000);
            return true;
        } catch (IOException e) {
            return false;
        }
    }

    int port() {
        return port;
    }

    /** All that it has printed so far. */
    String log() throws IOException {
        return Files.readString(log);
    }

    @Override
    public void close() {
        process.destroyForcibly();
        try {
            process.waitFor(10, TimeUnit.SECONDS);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }
}
