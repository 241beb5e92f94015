package dev.ratelimit.connection;

import dev.ratelimit.testing.postgres.TestPostgres;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.io.UncheckedIOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.net.URI;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;

/** Stands between the pool and the database, and can fall silent. */
final class Wire implements AutoCloseable {

    private final URI database = URI.create(TestPostgres.instance().jdbcUrl().substring("jdbc:".length()));
    private final ServerSocket server = new ServerSocket(0, 50, InetAddress.getLoopbackAddress());
    private final List<Socket> sockets = new CopyOnWriteArrayList<>();
    private final Thread accepting;
    private volatile boolean silent;

    Wire() throws IOException {
        accepting = daemon(() -> {
            while (true) {
                Socket near = server.accept();
                Socket far = new Socket(database.getHost(), database.getPort());
                sockets.addAll(List.of(near, far));
                daemon(() -> pass(near.getInputStream(), far.getOutputStream()));
                daemon(() -> pass(far.getInputStream(), near.getOutputStream()));
            }
        });
    }

    String jdbcUrl() {
        return "jdbc:postgresql://" + server.getInetAddress().getHostAddress() + ":" + server.getLocalPort()
                + database.getRawPath() + "?" + database.getRawQuery();
    }

    /** How many were opened through it. */
    int connections() {
        return sockets.size() / 2;
    }

    /** Drops everything, in both directions. */
    void fallSilent() {
        silent = true;
    }

    void speakAgain() {
        silent = false;
    }

    private void pass(InputStream from, OutputStream to) throws IOException {
        byte[] some = new byte[8192];
        for (int read = from.read(some); read >= 0; read = from.read(some)) {
            if (!silent) {
                to.write(some, 0, read);
                to.flush();
            }
        }
    }

    private interface Work {
        void run() throws IOException;
    }

    private static Thread daemon(Work work) {
        Thread thread = new Thread(() -> {
            try {
                work.run();
            } catch (IOException e) {
                // closed: there is nothing left to do
                return;
            }
        });
        thread.setDaemon(true);
        thread.start();
        return thread;
    }

    @Override
    public void close() {
        try {
            server.close();
            accepting.join(); // until then, the system may still accept a connection
            for (Socket socket : sockets) {
                socket.close();
            }
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }
}
