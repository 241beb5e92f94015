package dev.ratelimit.redis;

import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.io.OutputStream;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.nio.charset.StandardCharsets;
import java.util.Locale;

/** Answers PING, INFO and, from 6.0 on, HELLO as an old Redis does. It knows no other command. */
final class FakeRedis implements AutoCloseable {

    private final ServerSocket socket;
    private final String version;

    private FakeRedis(ServerSocket socket, String version) {
        this.socket = socket;
        this.version = version;
    }

    static FakeRedis ofVersion(String version) throws IOException {
        ServerSocket socket = new ServerSocket(0, 10, InetAddress.getByName("localhost"));
        FakeRedis fake = new FakeRedis(socket, version);
        daemon(fake::accept);
        return fake;
    }

    int port() {
        return socket.getLocalPort();
    }

    private static void daemon(Runnable work) {
        Thread thread = new Thread(work, "fake-redis");
        thread.setDaemon(true);
        thread.start();
    }

    private void accept() {
        try {
            while (true) {
                Socket client = socket.accept();
                daemon(() -> serve(client));
            }
        } catch (IOException e) {
            // closed
        }
    }

    private void serve(Socket client) {
        try (client;
                BufferedReader in =
                        new BufferedReader(new InputStreamReader(client.getInputStream(), StandardCharsets.UTF_8))) {
            OutputStream out = client.getOutputStream();
            for (String line = in.readLine(); line != null; line = in.readLine()) {
                int arguments = Integer.parseInt(line.substring(1));
                String command = "";
                for (int i = 0; i < arguments; i++) {
                    in.readLine(); // its length
                    String argument = in.readLine();
                    command = i == 0 ? argument.toUpperCase(Locale.ROOT) : command;
                }
                out.write(answer(command).getBytes(StandardCharsets.UTF_8));
                out.flush();
            }
        } catch (IOException e) {
            // the client is gone
        }
    }

    private String answer(String command) {
        return switch (command) {
            case "PING" -> "+PONG\r\n";
            case "INFO" -> bulk("# Server\r\nredis_version:" + version + "\r\nredis_mode:standalone\r\n");
            case "HELLO" -> version.startsWith("5.") ? unknown(command) : hello();
            default -> unknown(command);
        };
    }

    private static String unknown(String command) {
        return "-ERR unknown command `" + command + "`\r\n";
    }

    /** A map, in the protocol of version 3. */
    private String hello() {
        return "%7\r\n" + bulk("server") + bulk("redis") + bulk("version") + bulk(version) + bulk("proto") + ":3\r\n"
                + bulk("id") + ":1\r\n" + bulk("mode") + bulk("standalone") + bulk("role") + bulk("master")
                + bulk("modules") + "*0\r\n";
    }

    private static String bulk(String text) {
        return "$" + text.length() + "\r\n" + text + "\r\n";
    }

    @Override
    public void close() throws IOException {
        socket.close();
    }
}
