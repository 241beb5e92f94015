package dev.ratelimit.benchmark.load;

import java.io.IOException;
import java.util.ArrayList;
import java.util.List;

/**
 * Clients that send whole requests, each as soon as it has its answer, over connections that stay open. On a machine with few
 * cores they take their share of them from the application, alike for all contenders.
 *
 * @param denied how often a request is for {@link #DENIED}: 1 for each, 10 for one in ten, 0 for none
 */
public record HttpLoad(int port, int denied) {

    public static final String PATH = "/api/campaigns";

    /** Where each client has one request a day. */
    public static final String DENIED = "/api/posts/1";

    private static final int CONNECTIONS = 16;

    private static final int NOT_FOUND = 404;

    private static final int TOO_MANY = 429;

    /** How many keys each client uses in turn. */
    private static final int KEYS = 100;

    /**
     * @param answered requests
     * @param ofFirstKey how many of them were of {@link #FIRST_KEY}
     */
    public record Result(double perSecond, long answered, long ofFirstKey) {}

    public static final String FIRST_KEY = "0-0";

    public Result run(double seconds) throws Exception {
        List<Client> clients = new ArrayList<>();
        for (int i = 0; i < CONNECTIONS; i++) {
            Client client = new Client(this, i, (long) (seconds * 1e9));
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
        double took = (System.nanoTime() - begin) / 1e9;
        return new Result(answered / took, answered, (clients.get(0).answered + KEYS - 1) / KEYS);
    }

    private static final class Client extends Thread {

        private final HttpLoad load;
        private final int number;
        private final long nanos;
        private long answered;
        private volatile Throwable failure;

        Client(HttpLoad load, int number, long nanos) {
            this.load = load;
            this.number = number;
            this.nanos = nanos;
            setDaemon(true);
        }

        @Override
        public void run() {
            try (HttpConnection connection = new HttpConnection(load.port)) {
                long begin = System.nanoTime();
                while (System.nanoTime() - begin < nanos) {
                    boolean denied = load.denied > 0 && answered % load.denied == 0;
                    String client = number + "-" + answered % KEYS;
                    int status = connection.get(denied ? DENIED : PATH, client).status();
                    if (status >= 300 && !(denied && (status == TOO_MANY || status == NOT_FOUND))) {
                        throw new IOException("the answer was " + status);
                    }
                    answered++;
                }
            } catch (Throwable e) {
                failure = e;
            }
        }
    }
}
