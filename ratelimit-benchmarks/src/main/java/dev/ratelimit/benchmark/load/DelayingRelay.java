package dev.ratelimit.benchmark.load;

import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.time.Duration;
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.locks.LockSupport;

/** Makes a server on this machine as distant as a remote one: data arrives later, in both directions. */
final class DelayingRelay implements AutoCloseable {

    private static final int MOST_BYTES = 1 << 16;

    private final ServerSocket near = new ServerSocket(0, 50, InetAddress.getLoopbackAddress());
    private final int port;
    private final long oneWayNanos;
    private final List<Socket> open = new CopyOnWriteArrayList<>();

    /** Some bytes, and when they arrive; none at the end. */
    private record Sent(byte[] bytes, long arrivalNanos) {}

    /**
     * @param port that of the server
     * @param roundTrip how long it takes there and back
     */
    DelayingRelay(int port, Duration roundTrip) throws IOException {
        this.port = port;
        this.oneWayNanos = roundTrip.toNanos() / 2;
        start("relay", this::accept);
    }

    int port() {
        return near.getLocalPort();
    }

    private void accept() throws IOException {
        while (true) {
            Socket client = opened(near.accept());
            Socket server = opened(new Socket(InetAddress.getLoopbackAddress(), port));
            carry(client, server);
            carry(server, client);
        }
    }

    private Socket opened(Socket socket) throws IOException {
        socket.setTcpNoDelay(true);
        open.add(socket);
        return socket;
    }

    private void carry(Socket from, Socket to) {
        BlockingQueue<Sent> underWay = new LinkedBlockingQueue<>();
        start("relay-in", () -> {
            try (InputStream in = from.getInputStream()) {
                byte[] bytes = new byte[MOST_BYTES];
                for (int length = in.read(bytes); length >= 0; length = in.read(bytes)) {
                    underWay.add(new Sent(Arrays.copyOf(bytes, length), System.nanoTime() + oneWayNanos));
                }
            } finally {
                underWay.add(new Sent(new byte[0], System.nanoTime()));
            }
        });
        start("relay-out", () -> {
            try (OutputStream out = to.getOutputStream()) {
                for (Sent next = underWay.take(); next.bytes.length > 0; next = underWay.take()) {
                    while (next.arrivalNanos - System.nanoTime() > 0) {
                        LockSupport.parkNanos(next.arrivalNanos - System.nanoTime());
                    }
                    out.write(next.bytes);
                }
            }
        });
    }

    /** Work that ends with its connection. */
    private interface Work {
        void run() throws IOException, InterruptedException;
    }

    private static void start(String name, Work work) {
        Thread thread = new Thread(
                () -> {
                    try {
                        work.run();
                    } catch (IOException e) {
                        // closed
                    } catch (InterruptedException e) {
                        Thread.currentThread().interrupt();
                    }
                },
                name);
        thread.setDaemon(true);
        thread.start();
    }

    @Override
    public void close() throws IOException {
        near.close();
        for (Socket socket : open) {
            socket.close();
        }
    }
}
