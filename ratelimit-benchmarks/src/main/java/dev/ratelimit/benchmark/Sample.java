package dev.ratelimit.benchmark;

import dev.ratelimit.benchmark.load.DatabaseTime;
import dev.ratelimit.benchmark.load.HttpConnection;
import dev.ratelimit.benchmark.load.HttpLoad;
import dev.ratelimit.benchmark.load.Turn;
import dev.ratelimit.benchmark.peer.MeasuredLimits;
import dev.ratelimit.benchmark.peer.Peer;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.function.Supplier;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/** The sample application in a process of its own, with one way of limiting its requests. */
final class Sample extends Contender {

    /** Starts the application in the jar, with further classes if there are any. */
    private static final String LAUNCHER = "org.springframework.boot.loader.launch.PropertiesLauncher";

    /** How requests come out. */
    enum Answers {
        /** No limit applies. */
        UNLIMITED,
        /** They are counted and pass. */
        ALLOWED,
        /** One in ten is denied; the others are counted and pass. */
        SOME_DENIED,
        /** They are denied, except the first one of each client. */
        DENIED
    }

    private final Path jar;
    private final Path folder;
    private final List<Path> classPath;
    private final List<String> arguments;
    private final Supplier<DatabaseTime> clock;
    private final Answers answers;
    private final Runnable afterwards;
    private Process process;
    private int port;
    private long ofFirstKey;

    /**
     * @param folder where it runs
     * @param classPath is added to that of the jar
     * @param arguments say how requests are limited
     * @param afterwards runs after the last answer; processor time counts until it ends
     */
    Sample(
            String name,
            Path jar,
            Path folder,
            List<Path> classPath,
            List<String> arguments,
            Supplier<DatabaseTime> clock,
            Answers answers,
            Runnable afterwards) {
        super(name);
        this.jar = jar;
        this.folder = folder;
        this.classPath = classPath;
        this.arguments = arguments;
        this.clock = clock;
        this.answers = answers;
        this.afterwards = afterwards;
    }

    @Override
    void warmUp(double seconds) throws Exception {
        start();
        run(seconds);
    }

    @Override
    Turn run(double seconds) throws Exception {
        long application = processorNanos();
        DatabaseTime before = clock.get();
        HttpLoad.Result result = new HttpLoad(port, denied()).run(seconds);
        afterwards.run();
        double micros = clock.get().nanosSince(before) / 1e3 / result.answered();
        double ofApplication = (processorNanos() - application) / 1e3 / result.answered();
        ofFirstKey += result.ofFirstKey();
        if (denied() == 0) {
            requireExact();
        }
        return new Turn(result.perSecond(), Double.NaN, Double.NaN, 0, micros, micros + ofApplication);
    }

    private int denied() {
        return switch (answers) {
            case UNLIMITED, ALLOWED -> 0;
            case SOME_DENIED -> 10;
            case DENIED -> 1;
        };
    }

    /** The time of all threads of the application; exact where the scheduler tells. */
    private long processorNanos() {
        try (Stream<Path> threads = Files.list(Path.of("/proc/" + process.pid() + "/task"))) {
            long nanos = 0;
            for (Path thread : threads.toList()) {
                String counts = Files.readString(thread.resolve("schedstat"));
                nanos += Long.parseLong(counts.substring(0, counts.indexOf(' ')));
            }
            return nanos;
        } catch (IOException | UncheckedIOException e) {
            return process.info().totalCpuDuration().orElse(Duration.ZERO).toNanos();
        }
    }

    /** One more request, whose answer shows the remainder of the limit. */
    private void requireExact() throws IOException {
        try (HttpConnection connection = new HttpConnection(port)) {
            long remaining = connection.get(HttpLoad.PATH, HttpLoad.FIRST_KEY).remaining();
            ofFirstKey++;
            boolean limited = answers == Answers.ALLOWED;
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
        if (denied() > 0) {
            command.addAll(List.of(
                    "--ratelimit.limits.once.algorithm=token-bucket",
                    "--ratelimit.limits.once.burst=1",
                    "--ratelimit.limits.once.refill=1/d",
                    "--ratelimit.rules.once.path=" + HttpLoad.DENIED,
                    "--ratelimit.rules.once.limits=once",
                    "--ratelimit.rules.once.key=header:X-Client"));
        }
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
