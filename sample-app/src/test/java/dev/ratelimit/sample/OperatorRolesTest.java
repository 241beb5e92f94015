package dev.ratelimit.sample;

import static org.assertj.core.api.Assertions.assertThat;

import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.charset.StandardCharsets;
import java.util.Base64;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** The endpoint under the roles that docs/endpoint.md configures. */
class OperatorRolesTest extends RunningSample {

    private static final String CHANGE = "{\"action\": \"off\", \"reason\": \"a test\"}";

    private HttpResponse<String> send(@Nullable String user, String method, String path, @Nullable String body)
            throws Exception {
        HttpRequest.Builder request =
                HttpRequest.newBuilder(URI.create("http://127.0.0.1:" + port + "/actuator/ratelimit" + path));
        if (user != null) {
            String credentials = user + ":" + user;
            request.header(
                    "Authorization",
                    "Basic " + Base64.getEncoder().encodeToString(credentials.getBytes(StandardCharsets.UTF_8)));
        }
        request.header("Content-Type", "application/json")
                .method(
                        method,
                        body == null ? HttpRequest.BodyPublishers.noBody() : HttpRequest.BodyPublishers.ofString(body));
        return HttpClient.newHttpClient().send(request.build(), HttpResponse.BodyHandlers.ofString());
    }

    @ParameterizedTest
    @DisplayName("Nobody and users are refused, viewers may look, and operators may change")
    @CsvSource(
            nullValues = "nobody",
            value = {
                "nobody, 401, 401, 401",
                "alice, 403, 403, 403",
                "admin, 403, 403, 403",
                "viewer, 200, 403, 403",
                "operator, 200, 200, 200",
            })
    void roles(@Nullable String user, int read, int write, int delete) throws Exception {
        for (String path : new String[] {"", "/limits", "/limits/reads", "/rules", "/users/alice", "/changes"}) {
            assertThat(send(user, "GET", path, null).statusCode()).as(path).isEqualTo(read);
        }
        // In these tests counts are in memory, where they cannot be listed.
        for (String path : new String[] {"/penalties", "/search/user:a"}) {
            assertThat(send(user, "GET", path, null).statusCode()).as(path).isEqualTo(read == 200 ? 503 : read);
        }
        assertThat(send(user, "POST", "/rules/reads", CHANGE).statusCode()).isEqualTo(write);
        assertThat(admin.rules().find("reads").content() == null).isEqualTo(write == 200);
        assertThat(send(user, "POST", "/everything", CHANGE).statusCode()).isEqualTo(write);
        assertThat(admin.isEnabled()).isEqualTo(write != 200);
        assertThat(send(user, "DELETE", "/users/mallory?reason=test", null).statusCode())
                .isEqualTo(delete);
    }

    @Test
    @DisplayName("The log of changes names the operator")
    void changesNameTheOperator() throws Exception {
        send("operator", "POST", "/rules/reads", CHANGE);

        assertThat(send("viewer", "GET", "/changes?most=1", null).body())
                .contains("\"by\":\"operator\"")
                .contains("\"reason\":\"a test\"")
                .contains("\"action\":\"switch-off\"");
    }
}
