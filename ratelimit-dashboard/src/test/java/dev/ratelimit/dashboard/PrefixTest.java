package dev.ratelimit.dashboard;

import static org.assertj.core.api.Assertions.assertThat;

import com.sun.net.httpserver.HttpExchange;
import com.sun.net.httpserver.HttpServer;
import java.io.IOException;
import java.io.OutputStream;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.file.Path;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.springframework.context.ConfigurableApplicationContext;

/** The page with a context path, a servlet path, and behind a proxy that puts a prefix before both and tells nobody. */
class PrefixTest {

    private static final Set<String> NOT_PASSED_ON =
            Set.of("connection", "host", "content-length", "upgrade", "http2-settings", "transfer-encoding", "expect");

    @TempDir
    static Path folder;

    private final HttpClient client = HttpClient.newHttpClient();

    @Test
    @DisplayName("Every screen and every change works under a context path, a servlet path and a proxy's prefix")
    void prefixes() throws IOException {
        Map<String, String> settings = Traffic.settings(folder);
        settings.put("server.servlet.context-path", "/shop");
        settings.put("spring.mvc.servlet.path", "/web");
        // Paths of rules include that of the servlet.
        settings.put("ratelimit.rules.everything.path", "/**");
        settings.put("ratelimit.rules.everything.key", "ip");
        settings.put("ratelimit.rules.everything.limits", "search");
        HttpServer proxy = HttpServer.create(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), 0);
        ExecutorService threads = Executors.newCachedThreadPool();
        proxy.setExecutor(threads);
        try (Browser browser = Browser.start();
                ConfigurableApplicationContext shop = Shop.start(settings)) {
            proxy.createContext(
                    "/ops/", exchange -> passOn(exchange, Http.base(shop).replace("/shop", "")));
            proxy.start();
            String base = "http://127.0.0.1:" + proxy.getAddress().getPort() + "/ops/shop/web/ratelimit";

            browser.as("operator").go(base);
            browser.awaitText("Most denied");
            assertThat(browser.url()).startsWith(base + "/");
            browser.screen("limits", "Rules, in the order of evaluation");
            browser.press("Switch all limits off …");
            browser.type("#f-reason", "the test");
            browser.press("Switch everything off");
            browser.awaitText("Limits are off");
            browser.screen("changes", "the test");
            browser.screen("limits/search", "History");
            browser.screen("subjects/user%3Anobody", "Recent requests");
            browser.screen("explain", "Describe a request");
            browser.press("Explain");
            browser.awaitText("Step by step");
            assertThat(browser.complaints()).isEmpty();
        } finally {
            proxy.stop(0);
            threads.shutdownNow();
        }
    }

    private void passOn(HttpExchange exchange, String target) throws IOException {
        try (exchange) {
            String path = exchange.getRequestURI().toString().substring("/ops".length());
            HttpRequest.Builder request = HttpRequest.newBuilder(URI.create(target + path))
                    .method(
                            exchange.getRequestMethod(),
                            HttpRequest.BodyPublishers.ofByteArray(
                                    exchange.getRequestBody().readAllBytes()));
            exchange.getRequestHeaders().forEach((name, values) -> {
                if (!NOT_PASSED_ON.contains(name.toLowerCase(Locale.ROOT))) {
                    values.forEach(value -> request.header(name, value));
                }
            });
            HttpResponse<byte[]> response = client.send(request.build(), HttpResponse.BodyHandlers.ofByteArray());
            response.headers().map().forEach((name, values) -> {
                if (!NOT_PASSED_ON.contains(name) && !name.startsWith(":")) {
                    exchange.getResponseHeaders().put(name, values);
                }
            });
            byte[] body = response.body();
            exchange.sendResponseHeaders(response.statusCode(), body.length == 0 ? -1 : body.length);
            try (OutputStream out = exchange.getResponseBody()) {
                out.write(body);
            }
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }
}
