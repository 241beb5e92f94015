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

/** Answers PING and INFO as an old Redis does, and knows no other command. */
final class FakeRedis implements AutoCloseable {

    private final ServerSocket socket;
    private final String info;

    private FakeRedis(ServerSocket socket, String info) {
        this.socket = socket;
        this.info = info;
    }

    static FakeRedis ofVersion(String version) throws IOException {
        ServerSocket socket = new ServerSocket(0, 10, InetAddress.getByName("localhost"));
        FakeRedis fake = new FakeRedis(socket, "# Server\r\nredis_version:" + version + "\r\n");
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
            case "INFO" -> "$" + info.length() + "\r\n" + info + "\r\n";
            default -> "-ERR unknown command `" + command + "`\r\n";
        };
    }

    @Override
    public void close() throws IOException {
        socket.close();
    }
}
