package dev.ratelimit.benchmark.load;

import java.io.BufferedInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.net.InetAddress;
import java.net.Socket;
import java.nio.charset.StandardCharsets;
import java.util.Locale;

/** A connection to the sample that takes as little processor time as it can. */
public final class HttpConnection implements AutoCloseable {

    private static final String REMAINING = "x-ratelimit-remaining:";

    private final Socket socket;
    private final OutputStream out;
    private final InputStream in;

    public HttpConnection(int port) throws IOException {
        this.socket = new Socket(InetAddress.getLoopbackAddress(), port);
        socket.setTcpNoDelay(true);
        this.out = socket.getOutputStream();
        this.in = new BufferedInputStream(socket.getInputStream());
    }

    /**
     * @param remaining of the limit; negative if the answer does not say
     */
    public record Response(int status, long remaining) {}

    /** Asks as the client of that name. */
    public Response get(String path, String client) throws IOException {
        String request = "GET " + path + " HTTP/1.1\r\nHost: localhost\r\nX-Client: " + client + "\r\n\r\n";
        out.write(request.getBytes(StandardCharsets.US_ASCII));
        out.flush();
        return readResponse();
    }

    private Response readResponse() throws IOException {
        int status = Integer.parseInt(readLine().split(" ")[1]);
        int length = 0;
        long remaining = -1;
        boolean chunked = false;
        for (String line = readLine(); !line.isEmpty(); line = readLine()) {
            String lower = line.toLowerCase(Locale.ROOT);
            if (lower.startsWith("content-length:")) {
                length = Integer.parseInt(lower.substring(15).strip());
            }
            if (lower.startsWith(REMAINING)) {
                remaining = Long.parseLong(lower.substring(REMAINING.length()).strip());
            }
            chunked |= lower.startsWith("transfer-encoding:") && lower.contains("chunked");
        }
        if (chunked) {
            int size;
            do {
                size = Integer.parseInt(readLine().strip(), 16);
                in.skipNBytes(size + 2L);
            } while (size > 0);
        } else {
            in.skipNBytes(length);
        }
        return new Response(status, remaining);
    }

    private String readLine() throws IOException {
        StringBuilder line = new StringBuilder();
        for (int c = in.read(); c != '\n'; c = in.read()) {
            if (c < 0) {
                throw new IOException("the connection was closed");
            }
            if (c != '\r') {
                line.append((char) c);
            }
        }
        return line.toString();
    }

    @Override
    public void close() throws IOException {
        socket.close();
    }
}
