package dev.ratelimit.benchmark;

import java.io.BufferedInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;

/**
 * Whole requests: the sample application in a process of its own, sent requests over connections that stay open. On a
 * machine with few cores the generator takes its share of them from the application, alike in all cases.
 */
final class HttpLoad {

    private static final int CONNECTIONS = 16;
    private static final int REPETITIONS = 5;
    private static final double WARM_UP = 15;
    private static final double SECONDS = 1.5;

    private HttpLoad() {}

    /** Requests a second, by what limits them. */
    static Map<String, Double> measure(Servers servers, Path root) throws Exception {
        Path jar = root.resolve("sample-app/target/sample-app.jar");
        if (!Files.exists(jar)) {
            System.out.println("whole requests: not measured, since there is no " + root.relativize(jar));
            return Map.of();
        }
        Map<String, List<String>> kinds = new LinkedHashMap<>();
        List<String> memory = List.of("--ratelimit.store.type=memory", "--ratelimit.api-keys.enabled=false");
        List<String> unlimited = new ArrayList<>(memory);
        unlimited.add("--ratelimit.rules.reads.path=/nothing");
        kinds.put("http-unlimited", unlimited);
        kinds.put("http-memory", memory);
        kinds.put(
                "http-sqlite",
                List.of(
                        "--ratelimit.store.type=sqlite",
                        "--ratelimit.store.sqlite.path=" + servers.folder().resolve("http.db")));
        kinds.put(
                "http-postgresql",
                List.of(
                        "--ratelimit.store.type=postgresql",
                        "--ratelimit.store.postgresql.schema=http",
                        "--ratelimit.store.postgresql.url=" + servers.postgresUrl()));
        Map<String, Sample> running = new LinkedHashMap<>();
        Map<String, List<Double>> measured = new LinkedHashMap<>();
        try {
            for (Map.Entry<String, List<String>> kind : kinds.entrySet()) {
                System.out.println("whole requests: starting " + kind.getKey());
                Sample sample = Sample.start(jar, servers.folder(), kind.getValue());
                running.put(kind.getKey(), sample);
                measured.put(kind.getKey(), new ArrayList<>());
                run(sample.port, WARM_UP);
            }
            for (int repetition = 0; repetition < REPETITIONS; repetition++) {
                for (Map.Entry<String, Sample> one : running.entrySet()) {
                    measured.get(one.getKey()).add(run(one.getValue().port, SECONDS));
                }
            }
        } finally {
            running.values().forEach(Sample::stop);
        }
        Map<String, Double> medians = new LinkedHashMap<>();
        measured.forEach((name, rates) -> medians.put(
                name,
                Series.median(rates.stream().mapToDouble(Double::doubleValue).toArray())));
        return medians;
    }

    private static double run(int port, double seconds) throws Exception {
        List<Client> clients = new ArrayList<>();
        for (int i = 0; i < CONNECTIONS; i++) {
            Client client = new Client(port, i, (long) (seconds * 1e9));
            client.start();
            clients.add(client);
        }
        long begin = System.nanoTime();
        long answered = 0;
        for (Client client : clients) {
            client.join();
            if (client.failure != null) {
                throw new IllegalStateException("a request failed", client.failure);
            }
            answered += client.answered;
        }
        return answered / ((System.nanoTime() - begin) / 1e9);
    }

    private static final class Client extends Thread {

        private final int port;
        private final int number;
        private final long nanos;
        private long answered;
        private volatile Throwable failure;

        Client(int port, int number, long nanos) {
            this.port = port;
            this.number = number;
            this.nanos = nanos;
            setDaemon(true);
        }

        @Override
        public void run() {
            try (Socket socket = new Socket(InetAddress.getLoopbackAddress(), port)) {
                socket.setTcpNoDelay(true);
                OutputStream out = socket.getOutputStream();
                InputStream in = new BufferedInputStream(socket.getInputStream());
                long begin = System.nanoTime();
                while (System.nanoTime() - begin < nanos) {
                    String request = "GET /api/campaigns HTTP/1.1\r\nHost: localhost\r\nX-Client: " + number + "-"
                            + answered % 100 + "\r\n\r\n";
                    out.write(request.getBytes(StandardCharsets.US_ASCII));
                    out.flush();
                    int status = readResponse(in);
                    if (status >= 300) {
                        throw new IOException("the answer was " + status);
                    }
                    answered++;
                }
            } catch (Throwable e) {
                failure = e;
            }
        }

        private static int readResponse(InputStream in) throws IOException {
            String head = readLine(in);
            int status = Integer.parseInt(head.split(" ")[1]);
            int length = 0;
            boolean chunked = false;
            for (String line = readLine(in); !line.isEmpty(); line = readLine(in)) {
                String lower = line.toLowerCase(java.util.Locale.ROOT);
                if (lower.startsWith("content-length:")) {
                    length = Integer.parseInt(lower.substring(15).strip());
                }
                chunked |= lower.startsWith("transfer-encoding:") && lower.contains("chunked");
            }
            if (chunked) {
                int size;
                do {
                    size = Integer.parseInt(readLine(in).strip(), 16);
                    in.skipNBytes(size + 2L);
                } while (size > 0);
            } else {
                in.skipNBytes(length);
            }
            return status;
        }

        private static String readLine(InputStream in) throws IOException {
            StringBuilder line = new StringBuilder();
            for (int c = in.read(); c != '\n'; c = in.read()) {
                if (c < 0) {
                    throw new IOException("the connection was closed");
                }
                if (c != '\r') {
                    line.append((char) c);
                }
            }
            return line.toString();
        }
    }

    /** The sample in its own process. */
    private record Sample(Process process, int port) {

        static Sample start(Path jar, Path folder, List<String> arguments) throws Exception {
            int port;
            try (ServerSocket free = new ServerSocket(0)) {
                port = free.getLocalPort();
            }
            List<String> command = new ArrayList<>(List.of(
                    Path.of(System.getProperty("java.home"), "bin", "java").toString(),
                    "-Xmx256m",
                    "-jar",
                    jar.toString(),
                    "--server.port=" + port,
                    "--server.address=127.0.0.1",
                    "--server.tomcat.max-keep-alive-requests=-1",
                    "--ratelimit.limits.plenty.algorithm=token-bucket",
                    "--ratelimit.limits.plenty.burst=1000000000",
                    "--ratelimit.limits.plenty.refill=1000/s",
                    "--ratelimit.rules.reads.limits=plenty",
                    "--ratelimit.rules.reads.key=header:X-Client",
                    "--ratelimit.rules.quota.path=/nothing"));
            command.addAll(arguments);
            Process process = new ProcessBuilder(command)
                    .directory(folder.toFile())
                    .redirectErrorStream(true)
                    .redirectOutput(folder.resolve("sample-" + port + ".log").toFile())
                    .start();
            Sample sample = new Sample(process, port);
            sample.awaitStart(folder);
            return sample;
        }

        private void awaitStart(Path folder) throws Exception {
            for (int i = 0; i < 600 && process.isAlive(); i++) {
                try (Socket socket = new Socket(InetAddress.getLoopbackAddress(), port)) {
                    if (socket.isConnected()) {
                        return;
                    }
                } catch (IOException e) {
                    TimeUnit.MILLISECONDS.sleep(100);
                }
            }
            throw new IllegalStateException(
                    "the sample did not start: " + Files.readString(folder.resolve("sample-" + port + ".log")));
        }

        void stop() {
            process.destroy();
        }
    }
}
