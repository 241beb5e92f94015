package dev.ratelimit.sample;

import java.io.IOException;
import java.io.OutputStream;
import java.io.UncheckedIOException;
import java.net.Socket;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;

/**
 * Requests that were sent at once, each on a connection of its own.
 *
 * @param statuses how many got which status
 * @param sentAt when the first was sent, in the time of {@link System#nanoTime()}
 * @param answeredAt when the last was answered
 */
record Burst(Map<Integer, Long> statuses, long sentAt, long answeredAt) {

    private static final int TIMEOUT_MILLIS = 120_000;

    /** Sends so many of them. */
    static Burst of(int requests, int port, String... headLines) {
        byte[] head = (String.join("\r\n", headLines) + "\r\nHost: localhost\r\nConnection: close\r\n\r\n")
                .getBytes(StandardCharsets.ISO_8859_1);
        CountDownLatch ready = new CountDownLatch(requests);
        CountDownLatch go = new CountDownLatch(1);
        List<CompletableFuture<Integer>> answers = new ArrayList<>();
        for (int i = 0; i < requests; i++) {
            answers.add(CompletableFuture.supplyAsync(
                    () -> {
                        ready.countDown();
                        return status(port, head, go);
                    },
                    work -> new Thread(work).start()));
        }
        await(ready);
        long sentAt = System.nanoTime();
        go.countDown();
        Map<Integer, Long> statuses = new TreeMap<>();
        answers.forEach(answer -> statuses.merge(answer.join(), 1L, Long::sum));
        return new Burst(statuses, sentAt, System.nanoTime());
    }

    private static int status(int port, byte[] head, CountDownLatch go) {
        await(go);
        try (Socket socket = new Socket("127.0.0.1", port)) {
            socket.setSoTimeout(TIMEOUT_MILLIS);
            OutputStream out = socket.getOutputStream();
            out.write(head);
            out.flush();
            String answer = new String(socket.getInputStream().readAllBytes(), StandardCharsets.ISO_8859_1);
            return Integer.parseInt(answer.substring(9, 12));
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    private static void await(CountDownLatch latch) {
        try {
            latch.await();
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new IllegalStateException(e);
        }
    }

    long admitted() {
        return statuses.getOrDefault(200, 0L);
    }

    long denied() {
        return statuses.getOrDefault(429, 0L);
    }
}
