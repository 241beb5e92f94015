package dev.ratelimit.store.redis;

import io.lettuce.core.RedisURI;
import java.io.IOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.time.Duration;
import java.util.concurrent.atomic.AtomicInteger;

/** An address that leads to one server or another. Connections stay where they lead to when they are opened. */
final class Relay implements AutoCloseable {

    private final ServerSocket socket;
    private volatile int target;

    /** Connections that were opened before it changed carry nothing any more. */
    private final AtomicInteger generation = new AtomicInteger();

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

    /** Keeps all connections open, but nothing passes any more: a firewall has forgotten them. New ones work. */
    void forgetConnections() {
        generation.incrementAndGet();
    }

    int port() {
        return socket.getLocalPort();
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
                int opened = generation.get();
                daemon(() -> copy(client, server, opened));
                daemon(() -> copy(server, client, opened));
            }
        } catch (IOException e) {
            // closed
        }
    }

    private void copy(Socket from, Socket to, int opened) {
        byte[] buffer = new byte[8_192];
        try (from;
                to) {
            for (int read = 0; read >= 0; read = from.getInputStream().read(buffer)) {
                if (opened == generation.get()) {
                    to.getOutputStream().write(buffer, 0, read);
                }
            }
        } catch (IOException e) {
            // closed
        }
    }

    @Override
    public void close() throws IOException {
        socket.close();
    }
}
