package dev.ratelimit.starter;

import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.net.Socket;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Base64;
import java.util.List;
import java.util.function.Consumer;
import org.springframework.boot.SpringApplication;
import org.springframework.context.ConfigurableApplicationContext;
import org.springframework.core.env.Environment;

/** A real application on a free port, and a client for it. */
final class RunningApplication implements AutoCloseable {

    private final HttpClient http = HttpClient.newHttpClient();
    private final ConfigurableApplicationContext context;

    private RunningApplication(ConfigurableApplicationContext context) {
        this.context = context;
    }

    /** The server: both are on the class path, and the other one has to be left out. */
    enum Container {
        TOMCAT(
                "org.springframework.boot.jetty.autoconfigure.servlet.JettyServletWebServerAutoConfiguration",
                "org.springframework.boot.jetty.autoconfigure.actuate.web.server"
                        + ".JettyServletManagementContextAutoConfiguration"),
        JETTY(
                "org.springframework.boot.tomcat.autoconfigure.servlet.TomcatServletWebServerAutoConfiguration",
                "org.springframework.boot.tomcat.autoconfigure.actuate.web.server"
                        + ".TomcatServletManagementContextAutoConfiguration");

        private final String other;

        Container(String... others) {
            this.other = String.join(",", others);
        }
    }

    /** Starts an application of these classes with these settings, such as {@code ratelimit.enabled=true}. */
    static RunningApplication start(List<Class<?>> classes, String... settings) {
        return start(Container.TOMCAT, classes, settings);
    }

    static RunningApplication start(Container container, List<Class<?>> classes, String... settings) {
        List<String> arguments = new ArrayList<>(List.of(
                "--server.port=0",
                "--spring.main.banner-mode=off",
                "--spring.autoconfigure.exclude=org.springframework.boot.jdbc.autoconfigure.DataSourceAutoConfiguration,"
                        + container.other));
        if (Arrays.stream(settings).noneMatch(setting -> setting.startsWith("ratelimit.store.deadline="))) {
            arguments.add("--ratelimit.store.deadline=10s"); // slow machines are not what most tests are about
        }
        for (String setting : settings) {
            arguments.add("--" + setting);
        }
        SpringApplication application = new SpringApplication(classes.toArray(Class<?>[]::new));
        return new RunningApplication(application.run(arguments.toArray(String[]::new)));
    }

    <T> T bean(Class<T> type) {
        return context.getBean(type);
    }

    boolean has(Class<?> type) {
        return context.getBeanNamesForType(type).length > 0;
    }

    int port() {
        return Integer.parseInt(context.getBean(Environment.class).getProperty("local.server.port"));
    }

    String property(String name) {
        return context.getBean(Environment.class).getProperty(name);
    }

    HttpResponse<String> get(String path, String... headers) throws IOException, InterruptedException {
        return send(path, request -> headers(request, headers));
    }

    HttpResponse<String> getAs(String user, String path) throws IOException, InterruptedException {
        String credentials = Base64.getEncoder().encodeToString((user + ":" + user).getBytes(StandardCharsets.UTF_8));
        return get(path, "Authorization", "Basic " + credentials);
    }

    HttpResponse<String> post(String path, String type, String body, String... headers)
            throws IOException, InterruptedException {
        return send(path, request -> {
            request.header("Content-Type", type).POST(HttpRequest.BodyPublishers.ofString(body));
            headers(request, headers);
        });
    }

    HttpResponse<String> send(String path, Consumer<HttpRequest.Builder> request)
            throws IOException, InterruptedException {
        HttpRequest.Builder builder = HttpRequest.newBuilder(URI.create("http://127.0.0.1:" + port() + path));
        request.accept(builder);
        return http.send(builder.build(), HttpResponse.BodyHandlers.ofString());
    }

    /** Sends just this line, which no client library would, and gives the status of the answer. */
    int rawStatus(String requestLine) throws IOException {
        return Integer.parseInt(raw(requestLine).substring(9, 12));
    }

    /** Sends just this line, and gives the answer as it came. */
    String raw(String requestLine) throws IOException {
        try (Socket socket = new Socket("127.0.0.1", port())) {
            socket.setSoTimeout(10_000);
            OutputStream out = socket.getOutputStream();
            out.write((requestLine + "\r\nHost: localhost\r\nConnection: close\r\nContent-Length: 0\r\n\r\n")
                    .getBytes(StandardCharsets.ISO_8859_1));
            out.flush();
            InputStream in = socket.getInputStream();
            return new String(in.readAllBytes(), StandardCharsets.ISO_8859_1);
        }
    }

    private static void headers(HttpRequest.Builder request, String... headers) {
        if (headers.length > 0) {
            request.headers(headers);
        }
    }

    @Override
    public void close() {
        context.close();
    }
}
