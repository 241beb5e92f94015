package dev.ratelimit.dashboard;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.net.http.HttpResponse.BodyHandlers;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.Base64;
import java.util.HashMap;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import org.springframework.context.ApplicationContext;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;

/** Sends requests as one user. Keeps no cookies but the one of the dashboard. */
final class Http {

    private static final HttpClient CLIENT =
            HttpClient.newBuilder().connectTimeout(Duration.ofSeconds(30)).build();
    private static final JsonMapper JSON = JsonMapper.builder().build();

    private final String base;
    private final @Nullable String user;

    private Http(String base, @Nullable String user) {
        this.base = base;
        this.user = user;
    }

    /** Nobody. */
    static Http at(ApplicationContext application) {
        return new Http(base(application), null);
    }

    /** The address of an application, with its context path. */
    static String base(ApplicationContext application) {
        return "http://127.0.0.1:" + application.getEnvironment().getProperty("local.server.port")
                + application.getEnvironment().getProperty("server.servlet.context-path", "");
    }

    Http as(String name) {
        return new Http(base, name);
    }

    record Answer(int status, HttpResponse<String> response) {

        String header(String name) {
            return response.headers().firstValue(name).orElse("");
        }

        String body() {
            return response.body();
        }

        JsonNode json() {
            return JSON.readTree(body());
        }
    }

    Answer get(String path) {
        return get(path, Map.of());
    }

    Answer get(String path, Map<String, String> headers) {
        return send(request(path, headers).GET().build());
    }

    Answer head(String path) {
        return send(request(path, Map.of())
                .method("HEAD", HttpRequest.BodyPublishers.noBody())
                .build());
    }

    /** A write as the page sends it. */
    Answer write(String path, Object body) {
        return write(path, body, Map.of());
    }

    /** A write as the page sends it, with some headers replaced; an empty one is left out. */
    Answer write(String path, Object body, Map<String, String> replaced) {
        Answer session = get("/ratelimit/data/session");
        Map<String, String> headers = new HashMap<>();
        headers.put("Content-Type", "application/json");
        headers.put("Sec-Fetch-Site", "same-origin");
        if (session.status() == 200) {
            headers.put(Forgeries.HEADER, session.json().get("token").asString());
            headers.put("Cookie", cookies(session));
            JsonNode csrf = session.json().get("csrf");
            if (csrf.isObject()) {
                headers.put(csrf.get("name").asString(), csrf.get("value").asString());
            }
        }
        headers.putAll(replaced);
        headers.values().removeIf(String::isEmpty);
        String text = body instanceof String written ? written : JSON.writeValueAsString(body);
        return send(request(path, headers)
                .POST(HttpRequest.BodyPublishers.ofString(text))
                .build());
    }

    private static String cookies(Answer answer) {
        return String.join(
                "; ",
                answer.response().headers().allValues("Set-Cookie").stream()
                        .map(cookie -> cookie.split(";", 2)[0])
                        .toList());
    }

    private HttpRequest.Builder request(String path, Map<String, String> headers) {
        HttpRequest.Builder request = HttpRequest.newBuilder(URI.create(base + path));
        headers.forEach(request::header);
        if (user != null) {
            String credentials = user.contains(":") ? user : user + ":" + user;
            request.header(
                    "Authorization",
                    "Basic " + Base64.getEncoder().encodeToString(credentials.getBytes(StandardCharsets.UTF_8)));
        }
        return request;
    }

    private static Answer send(HttpRequest request) {
        try {
            HttpResponse<String> response = CLIENT.send(request, BodyHandlers.ofString());
            return new Answer(response.statusCode(), response);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new IllegalStateException(e);
        }
    }
}
