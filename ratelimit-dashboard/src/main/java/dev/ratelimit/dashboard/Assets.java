package dev.ratelimit.dashboard;

import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import org.springframework.http.HttpHeaders;
import org.springframework.util.DigestUtils;
import org.springframework.web.servlet.function.ServerRequest;
import org.springframework.web.servlet.function.ServerResponse;

/** The files of the page: a fixed list, read from the jar once. */
final class Assets {

    private static final String HTML = "text/html;charset=UTF-8";

    private static final Map<String, String> TYPES = Map.of(
            "html", HTML,
            "css", "text/css;charset=UTF-8",
            "js", "text/javascript;charset=UTF-8",
            "svg", "image/svg+xml");

    private static final String INDEX = "index.html";
    static final List<String> NAMES = List.of(
            INDEX,
            "icon.svg",
            "style.css",
            "actions.js",
            "api.js",
            "app.js",
            "changes.js",
            "chart.js",
            "dialog.js",
            "dom.js",
            "explain.js",
            "keys.js",
            "limit.js",
            "limits.js",
            "now.js",
            "subjects.js");

    private static final class File {

        private final String type;
        private final byte[] content;
        private final String tag;

        private File(String type, byte[] content) {
            this.type = type;
            this.content = content;
            this.tag = '"' + DigestUtils.md5DigestAsHex(content) + '"';
        }
    }

    private final Map<String, File> files = new LinkedHashMap<>();

    Assets() {
        NAMES.forEach(name -> files.put(name, read(name)));
    }

    private static File read(String name) {
        try (InputStream file = Assets.class.getResourceAsStream("page/" + name)) {
            if (file == null) {
                throw new IllegalStateException("The jar of ratelimit-dashboard lacks " + name);
            }
            byte[] content = file.readAllBytes();
            String type = TYPES.getOrDefault(name.substring(name.lastIndexOf('.') + 1), "");
            return new File(type, content);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    ServerResponse index(ServerRequest request, Map<String, String> headers) {
        return answer(files.get(INDEX), request, headers);
    }

    ServerResponse file(ServerRequest request) {
        return answer(files.get(request.pathVariable("name")), request, Map.of());
    }

    private static ServerResponse answer(@Nullable File file, ServerRequest request, Map<String, String> more) {
        if (file == null) {
            byte[] text = "There is no such file.".getBytes(StandardCharsets.UTF_8);
            return Answers.of(
                    404, "text/plain;charset=UTF-8", text, Map.of(HttpHeaders.CACHE_CONTROL, Answers.NO_STORE));
        }
        Map<String, String> headers = new LinkedHashMap<>(more);
        headers.put(HttpHeaders.CACHE_CONTROL, "private, no-cache");
        headers.put(HttpHeaders.ETAG, file.tag);
        return request.headers().header(HttpHeaders.IF_NONE_MATCH).contains(file.tag)
                ? Answers.empty(304, headers)
                : Answers.of(200, file.type, file.content, headers);
    }
}
