package dev.ratelimit.starter;

import java.io.BufferedInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.net.Socket;
import java.nio.charset.StandardCharsets;
import java.util.Locale;
import java.util.Map;

/** Sends requests exactly as they are written, over one connection: client libraries mend paths. */
final class RawConnection implements AutoCloseable {

    private final int port;
    private Socket socket;
    private InputStream in;

    RawConnection(int port) {
        this.port = port;
    }

    /** An answer; its body is read whole. */
    record Answer(int status, String body) {}

    Answer send(String method, String path, Map<String, String> headers) throws IOException {
        if (socket == null) {
            socket = new Socket("127.0.0.1", port);
            socket.setSoTimeout(30_000);
            socket.setTcpNoDelay(true);
            in = new BufferedInputStream(socket.getInputStream());
        }
        StringBuilder request = new StringBuilder(method + " " + path + " HTTP/1.1\r\nHost: localhost\r\n");
        headers.forEach((name, value) -> request.append(name + ": " + value + "\r\n"));
        request.append("Content-Length: 0\r\n\r\n");
        socket.getOutputStream().write(request.toString().getBytes(StandardCharsets.ISO_8859_1));
        socket.getOutputStream().flush();
        return read(method);
    }

    private Answer read(String method) throws IOException {
        int status = Integer.parseInt(line().split(" ")[1]);
        int length = 0;
        boolean closes = false;
        for (String line = line(); !line.isEmpty(); line = line()) {
            String lower = line.toLowerCase(Locale.ROOT);
            if (lower.startsWith("content-length:")) {
                length = Integer.parseInt(
                        lower.substring("content-length:".length()).strip());
            } else if (lower.equals("transfer-encoding: chunked")) {
                throw new IOException("an answer without a length");
            }
            closes |= lower.equals("connection: close");
        }
        String body = method.equals("HEAD") ? "" : new String(in.readNBytes(length), StandardCharsets.UTF_8);
        if (closes) {
            close();
        }
        return new Answer(status, body);
    }

    private String line() throws IOException {
        StringBuilder line = new StringBuilder();
        for (int next = in.read(); next != '\n'; next = in.read()) {
            if (next < 0) {
                throw new IOException("the connection was closed after '" + line + "'");
            }
            line.append((char) next);
        }
        return line.toString().stripTrailing();
    }

    @Override
    public void close() throws IOException {
        if (socket != null) {
            socket.close();
            socket = null;
        }
    }
}
