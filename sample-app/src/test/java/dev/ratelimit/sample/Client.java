package dev.ratelimit.sample;

import com.jayway.jsonpath.JsonPath;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpRequest.BodyPublishers;
import java.net.http.HttpResponse;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Base64;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/** Sends real requests to the sample. */
final class Client {

    private static final HttpClient HTTP = HttpClient.newBuilder()
            .version(HttpClient.Version.HTTP_1_1)
            .connectTimeout(Duration.ofSeconds(30))
            .build();

    private final String base;
    private final @Nullable String apiKey;

    Client(int port) {
        this("http://127.0.0.1:" + port, null);
    }

    private Client(String base, @Nullable String apiKey) {
        this.base = base;
        this.apiKey = apiKey;
    }

    /** Sends the API key with each request. */
    Client with(String apiKey) {
        return new Client(base, apiKey);
    }

    /** An answer, read. */
    record Answer(int status, HttpResponse<String> response) {

        String header(String name) {
            return response.headers().firstValue(name).orElse("");
        }

        long number(String name) {
            return Long.parseLong(header(name));
        }

        boolean has(String name) {
            return response.headers().firstValue(name).isPresent();
        }

        String body() {
            return response.body();
        }

        /** The value in the body at a JSON path. */
        <T> T at(String path) {
            return JsonPath.read(body(), path);
        }
    }

    String base() {
        return base;
    }

    // The endpoints. A user of null is nobody.

    Answer read(String user) {
        return get("/api/campaigns", user);
    }

    Answer readWith(String user, String password) {
        return getWith("/api/campaigns", user, password);
    }

    Answer getWith(String path, String user, String password) {
        return send(basic(HttpRequest.newBuilder(URI.create(base + path)), user, password));
    }

    Answer get(String path, String user) {
        return send("GET", path, user, null);
    }

    Answer usage(@Nullable String user) {
        return get("/api/usage", user);
    }

    Answer head(String path, String user) {
        return send("HEAD", path, user, null);
    }

    Answer post(String user) {
        return send("POST", "/api/campaigns/1/posts", user, "{\"text\":\"Back on Monday\"}");
    }

    Answer edit(String user) {
        return send("PUT", "/api/posts/1", user, "{\"text\":\"Back on Tuesday\"}");
    }

    Answer delete(long post, String user) {
        return send("DELETE", "/api/posts/" + post, user, null);
    }

    Answer turn(String user) {
        return send("POST", "/api/campaigns/1/scenes/1/posts", user, "{\"text\":\"I climb the stairs\"}");
    }

    Answer createCampaign(String user) {
        return send("POST", "/api/campaigns", user, "{\"title\":\"The Salt Road\"}");
    }

    Answer createScene(String user) {
        return send("POST", "/api/campaigns/1/scenes", user, "{\"title\":\"Footprints in the ash\"}");
    }

    Answer uploadAvatar(String user) {
        return upload("/api/upload/avatar", user);
    }

    Answer uploadSceneHeader(String user) {
        return upload("/api/upload/scene-header", user);
    }

    Answer acquireComposeLock(String user) {
        return send("POST", "/api/scenes/1/compose-lock/acquire", user, null);
    }

    Answer releaseComposeLock(String user) {
        return send("DELETE", "/api/scenes/1/compose-lock/release", user, null);
    }

    Answer join(String user) {
        return send("POST", "/api/campaigns/1/join", user, null);
    }

    Answer login(String username, String password) {
        return send("POST", "/login", null, "{\"username\":\"" + username + "\",\"password\":\"" + password + "\"}");
    }

    /** Does it so many times, one after another, and gives the statuses. */
    static List<Integer> times(int times, Supplier<Answer> request) {
        List<Integer> statuses = new ArrayList<>();
        for (int i = 0; i < times; i++) {
            statuses.add(request.get().status());
        }
        return statuses;
    }

    /** Does them all at once. */
    static List<Answer> together(List<Supplier<Answer>> requests) {
        List<CompletableFuture<Answer>> answers = requests.stream()
                .map(request -> CompletableFuture.supplyAsync(request, work -> new Thread(work).start()))
                .toList();
        return answers.stream().map(CompletableFuture::join).toList();
    }

    static long passed(List<Answer> answers) {
        return answers.stream().filter(answer -> answer.status() < 300).count();
    }

    private Answer upload(String path, String user) {
        String body = String.join(
                "\r\n",
                "--part",
                "Content-Disposition: form-data; name=\"image\"; filename=\"image.png\"",
                "Content-Type: image/png",
                "",
                "not much of an image",
                "--part--",
                "");
        return send(request(path, user)
                .header("Content-Type", "multipart/form-data; boundary=part")
                .POST(BodyPublishers.ofString(body)));
    }

    private Answer send(String method, String path, String user, String json) {
        HttpRequest.Builder request = request(path, user);
        if (json != null) {
            request.header("Content-Type", "application/json");
        }
        return send(request.method(method, json == null ? BodyPublishers.noBody() : BodyPublishers.ofString(json)));
    }

    private HttpRequest.Builder request(String path, String user) {
        HttpRequest.Builder request =
                HttpRequest.newBuilder(URI.create(base + path)).timeout(Duration.ofSeconds(60));
        if (apiKey != null) {
            request.header("X-API-Key", apiKey);
        }
        return user == null ? request : basic(request, user, user);
    }

    private static HttpRequest.Builder basic(HttpRequest.Builder request, String user, String password) {
        byte[] credentials = (user + ":" + password).getBytes(StandardCharsets.UTF_8);
        return request.header("Authorization", "Basic " + Base64.getEncoder().encodeToString(credentials));
    }

    private static Answer send(HttpRequest.Builder request) {
        try {
            HttpResponse<String> response = HTTP.send(request.build(), HttpResponse.BodyHandlers.ofString());
            return new Answer(response.statusCode(), response);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new IllegalStateException(e);
        }
    }
}
