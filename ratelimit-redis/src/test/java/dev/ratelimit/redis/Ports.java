package dev.ratelimit.redis;

import java.io.IOException;
import java.net.InetAddress;
import java.net.ServerSocket;

/** Ports on loopback that nobody uses. */
final class Ports {

    private Ports() {}

    static int free() {
        try (ServerSocket socket = new ServerSocket(0, 1, InetAddress.getLoopbackAddress())) {
            // A node of a cluster also listens on a port that is 10,000 higher.
            return socket.getLocalPort() > 55_000 ? socket.getLocalPort() - 20_000 : socket.getLocalPort();
        } catch (IOException e) {
            throw new IllegalStateException(e);
        }
    }
}
