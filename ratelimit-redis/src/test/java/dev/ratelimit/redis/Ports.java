package dev.ratelimit.redis;

import java.io.IOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ThreadLocalRandom;

/**
 * Ports on loopback that nobody uses. They are below those that the system gives to connections, so that none is taken between
 * the choice and the start of the server.
 */
public final class Ports {

    private static final int LOWEST = 11_000;

    private static final int HIGHEST = 22_000;

    /** A node of a cluster also listens on a port that is higher by this. */
    private static final int BUS = 10_000;

    /** A server may not have started yet. */
    private static final Set<Integer> GIVEN = ConcurrentHashMap.newKeySet();

    private Ports() {}

    public static int free() {
        while (true) {
            int port = ThreadLocalRandom.current().nextInt(LOWEST, HIGHEST);
            if (GIVEN.add(port) && isFree(port) && isFree(port + BUS)) {
                return port;
            }
        }
    }

    private static boolean isFree(int port) {
        try (ServerSocket socket = new ServerSocket(port, 1, InetAddress.getLoopbackAddress())) {
            return socket.isBound();
        } catch (IOException e) {
            return false;
        }
    }
}
