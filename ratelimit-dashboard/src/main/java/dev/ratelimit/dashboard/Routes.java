package dev.ratelimit.dashboard;

import dev.ratelimit.operate.Operations;
import java.util.Map;
import org.springframework.http.HttpHeaders;
import org.springframework.web.servlet.function.HandlerFunction;
import org.springframework.web.servlet.function.RouterFunction;
import org.springframework.web.servlet.function.RouterFunctions;
import org.springframework.web.servlet.function.ServerResponse;

/** The paths of the dashboard. All URLs in answers are relative, so a proxy may put any prefix before them. */
final class Routes {

    private final String path;
    private final Calls calls;
    private final Reads reads;
    private final OperatorChanges changes;
    private final Operations operations;
    private final String instance;
    private final Assets assets = new Assets();

    /**
     * @param instance the name of the application and this instance
     */
    Routes(DashboardPaths paths, Access access, Operations operations, String instance) {
        this.path = paths.path();
        this.calls = new Calls(access);
        this.reads = new Reads(operations);
        this.changes = new OperatorChanges(operations);
        this.operations = operations;
        this.instance = instance;
    }

    RouterFunction<ServerResponse> all() {
        String withSlash = path.substring(path.lastIndexOf('/') + 1) + "/";
        HandlerFunction<ServerResponse> bare =
                calls.page(request -> Answers.empty(302, Map.of(HttpHeaders.LOCATION, withSlash)));
        HandlerFunction<ServerResponse> page = calls.page(request -> assets.index(request, calls.cookieOf(request)));
        return RouterFunctions.route()
                .GET(path, bare)
                .HEAD(path, bare)
                .GET(path + "/", page)
                .HEAD(path + "/", page)
                .GET(path + DashboardPaths.ASSETS + "{name}", calls.page(assets::file))
                .GET(data("session"), calls.session(() -> Map.of("instance", instance, "at", operations.now())))
                .GET(data("health"), calls.read(reads::health))
                .GET(data("now"), calls.read(reads::now))
                .GET(data("limits"), calls.read(reads::limits))
                .GET(data("violations"), calls.read(reads::violations))
                .GET(data("limit"), calls.read(reads::limit))
                .GET(data("rule"), calls.read(reads::rule))
                .GET(data("difference"), calls.read(reads::difference))
                .GET(data("subjects"), calls.read(reads::subjects))
                .GET(data("subject"), calls.read(reads::subject))
                .GET(data("blocks"), calls.read(reads::blocks))
                .GET(data("changes"), calls.read(reads::changes))
                .POST(data("explain"), calls.ask(reads::explain))
                .POST(
                        data("steer/{change}"),
                        calls.write((request, body, operator) ->
                                changes.make(request.pathVariable("change"), body, operator)))
                .build();
    }

    private String data(String name) {
        return path + DashboardPaths.DATA + name;
    }
}
