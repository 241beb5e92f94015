package dev.ratelimit.benchmark;

import dev.ratelimit.benchmark.load.DatabaseTime;
import dev.ratelimit.benchmark.load.HttpConnection;
import dev.ratelimit.benchmark.load.HttpLoad;
import dev.ratelimit.benchmark.load.Turn;
import dev.ratelimit.benchmark.peer.MeasuredLimits;
import dev.ratelimit.benchmark.peer.Peer;
import java.io.IOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.function.Supplier;
import java.util.stream.Collectors;

/** The sample application in a process of its own, with one way of limiting its requests. */
final class Sample extends Contender {

    /** Starts the application in the jar, with further classes if there are any. */
    private static final String LAUNCHER = "org.springframework.boot.loader.launch.PropertiesLauncher";

    private final Path jar;
    private final Path folder;
    private final List<Path> classPath;
    private final List<String> arguments;
    private final Supplier<DatabaseTime> clock;
    private final boolean limited;
    private Process process;
    private int port;
    private long ofFirstKey;

    /**
     * @param folder where it runs
     * @param classPath is added to that of the jar
     * @param arguments say how requests are limited
     * @param limited whether they are
     */
    Sample(
            String name,
            Path jar,
            Path folder,
            List<Path> classPath,
            List<String> arguments,
            Supplier<DatabaseTime> clock,
            boolean limited) {
        super(name);
        this.jar = jar;
        this.folder = folder;
        this.classPath = classPath;
        this.arguments = arguments;
        this.clock = clock;
        this.limited = limited;
    }

    @Override
    void warmUp(double seconds) throws Exception {
        start();
        run(seconds);
    }

    @Override
    Turn run(double seconds) throws Exception {
        DatabaseTime before = clock.get();
        HttpLoad.Result result = new HttpLoad(port).run(seconds);
        double micros = clock.get().nanosSince(before) / 1e3 / result.answered();
        ofFirstKey += result.ofFirstKey();
        requireExact();
        return new Turn(result.perSecond(), Double.NaN, Double.NaN, 0, micros);
    }

    /** One more request, whose answer shows the remainder of the limit. */
    private void requireExact() throws IOException {
        try (HttpConnection connection = new HttpConnection(port)) {
            long remaining = connection.get(HttpLoad.FIRST_KEY).remaining();
            ofFirstKey++;
            if (limited != remaining >= 0) {
                throw new IllegalStateException(name() + (limited ? " is not limited" : " is limited"));
            }
            if (limited) {
                Peer.requireSame("admitted by " + name(), 0, MeasuredLimits.PLENTY - remaining, ofFirstKey);
            }
        }
    }

    private void start() throws Exception {
        try (ServerSocket free = new ServerSocket(0)) {
            port = free.getLocalPort();
        }
        List<String> command = new ArrayList<>(
                List.of(Path.of(System.getProperty("java.home"), "bin", "java").toString(), "-Xmx256m"));
        if (!classPath.isEmpty()) {
            command.add(
                    "-Dloader.path=" + classPath.stream().map(Path::toString).collect(Collectors.joining(",")));
        }
        command.addAll(List.of(
                "-classpath",
                jar.toString(),
                LAUNCHER,
                "--server.port=" + port,
                "--server.address=127.0.0.1",
                "--server.tomcat.max-keep-alive-requests=-1",
                "--ratelimit.limits.plenty.algorithm=token-bucket",
                "--ratelimit.limits.plenty.burst=" + MeasuredLimits.PLENTY,
                "--ratelimit.limits.plenty.refill=1/d",
                "--ratelimit.rules.reads.limits=plenty",
                "--ratelimit.rules.reads.key=header:X-Client",
                "--ratelimit.rules.quota.path=/nothing"));
        command.addAll(arguments);
        process = new ProcessBuilder(command)
                .directory(folder.toFile())
                .redirectErrorStream(true)
                .redirectOutput(log().toFile())
                .start();
        awaitStart();
    }

    private Path log() {
        return folder.resolve("sample-" + port + ".log");
    }

    private void awaitStart() throws Exception {
        for (int i = 0; i < 600 && process.isAlive(); i++) {
            try (Socket socket = new Socket(InetAddress.getLoopbackAddress(), port)) {
                if (socket.isConnected()) {
                    return;
                }
            } catch (IOException e) {
                TimeUnit.MILLISECONDS.sleep(100);
            }
        }
        throw new IllegalStateException(name() + " did not start: " + Files.readString(log()));
    }

    @Override
    void close() {
        if (process != null) {
            process.destroy();
        }
    }
}
