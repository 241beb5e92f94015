package dev.ratelimit.redis;

import dev.ratelimit.testing.tls.SelfSignedKey;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.net.InetAddress;
import java.net.Socket;
import java.security.GeneralSecurityException;
import java.security.KeyStore;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.atomic.AtomicInteger;
import javax.net.ssl.KeyManagerFactory;
import javax.net.ssl.SSLContext;
import javax.net.ssl.SSLServerSocket;
import javax.net.ssl.SSLSocket;

/** Speaks TLS in front of a Redis of a test, which may be built without it. Its certificate is for {@code localhost}. */
final class TlsRelay implements AutoCloseable {

    private final SSLServerSocket socket;
    private final int target;
    private final AtomicInteger handshakes = new AtomicInteger();
    private final Queue<Socket> open = new ConcurrentLinkedQueue<>();

    private TlsRelay(SSLServerSocket socket, int target) {
        this.socket = socket;
        this.target = target;
    }

    static TlsRelay start(SelfSignedKey key, int target) throws IOException, GeneralSecurityException {
        char[] password = SelfSignedKey.PASSWORD.toCharArray();
        KeyStore keys = KeyStore.getInstance(key.keyStore().toFile(), password);
        KeyManagerFactory managers = KeyManagerFactory.getInstance(KeyManagerFactory.getDefaultAlgorithm());
        managers.init(keys, password);
        SSLContext context = SSLContext.getInstance("TLS");
        context.init(managers.getKeyManagers(), null, null);
        SSLServerSocket socket = (SSLServerSocket)
                context.getServerSocketFactory().createServerSocket(0, 50, InetAddress.getByName("localhost"));
        TlsRelay relay = new TlsRelay(socket, target);
        daemon(relay::accept);
        return relay;
    }

    int port() {
        return socket.getLocalPort();
    }

    /** The number of clients that have trusted the certificate. */
    int handshakes() {
        return handshakes.get();
    }

    private static void daemon(Runnable work) {
        Thread thread = new Thread(work, "tls-relay");
        thread.setDaemon(true);
        thread.start();
    }

    private void accept() {
        try {
            while (true) {
                SSLSocket client = (SSLSocket) socket.accept();
                open.add(client);
                daemon(() -> serve(client));
            }
        } catch (IOException e) {
            // closed
        }
    }

    private void serve(SSLSocket client) {
        try (client;
                Socket server = new Socket(InetAddress.getByName("localhost"), target)) {
            open.add(server);
            client.startHandshake();
            // With TLS 1.3 a client refuses the certificate after the server has finished: count what it sends then.
            int first = client.getInputStream().read();
            if (first < 0) {
                return;
            }
            handshakes.incrementAndGet();
            server.getOutputStream().write(first);
            daemon(() -> copy(server, client));
            copy(client, server);
        } catch (IOException e) {
            // one of both is gone
        }
    }

    private static void copy(Socket from, Socket to) {
        try (from;
                to) {
            InputStream in = from.getInputStream();
            OutputStream out = to.getOutputStream();
            byte[] bytes = new byte[8192];
            for (int read = in.read(bytes); read >= 0; read = in.read(bytes)) {
                out.write(bytes, 0, read);
                out.flush();
            }
        } catch (IOException e) {
            // one of both is gone
        }
    }

    @Override
    public void close() throws IOException {
        socket.close();
        for (Socket each : open) {
            each.close();
        }
    }
}
