package dev.ratelimit.store.redis;

import io.lettuce.core.RedisURI;
import java.io.IOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.time.Duration;

/** An address that leads to one server or another. Connections stay where they lead to when they are opened. */
final class Relay implements AutoCloseable {

    private final ServerSocket socket;
    private volatile int target;

    private Relay(ServerSocket socket, int target) {
        this.socket = socket;
        this.target = target;
    }

    static Relay to(int port) throws IOException {
        Relay relay = new Relay(new ServerSocket(0, 10, InetAddress.getLoopbackAddress()), port);
        daemon(relay::accept);
        return relay;
    }

    void leadTo(int port) {
        target = port;
    }

    RedisURI uri() {
        return RedisURI.builder()
                .withHost("127.0.0.1")
                .withPort(socket.getLocalPort())
                .withTimeout(Duration.ofSeconds(5))
                .build();
    }

    private static void daemon(Runnable work) {
        Thread thread = new Thread(work, "relay");
        thread.setDaemon(true);
        thread.start();
    }

    private void accept() {
        try {
            while (true) {
                Socket client = socket.accept();
                Socket server = new Socket(InetAddress.getLoopbackAddress(), target);
                daemon(() -> copy(client, server));
                daemon(() -> copy(server, client));
            }
        } catch (IOException e) {
            // closed
        }
    }

    private static void copy(Socket from, Socket to) {
        try (from;
                to) {
            long unused = from.getInputStream().transferTo(to.getOutputStream());
        } catch (IOException e) {
            // closed
        }
    }

    @Override
    public void close() throws IOException {
        socket.close();
    }
}
