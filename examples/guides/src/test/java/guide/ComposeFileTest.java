package guide;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.yaml.snakeyaml.Yaml;

/** The examples find the server of {@code compose.yaml}. Starting it needs Docker, so only what both say is compared. */
class ComposeFileTest {

    private static final Path EXAMPLES = Documents.ROOT.resolve("examples");

    private final Map<String, Object> server = server();

    private static Map<String, Object> server() {
        return map(map(read("compose.yaml"), "services"), "postgres");
    }

    private static Map<String, Object> read(String file) {
        return new Yaml().load(Documents.read(EXAMPLES.resolve(file)));
    }

    @SuppressWarnings("unchecked")
    private static Map<String, Object> map(Map<String, Object> parent, String key) {
        return (Map<String, Object>) parent.get(key);
    }

    @Test
    void onlyThisMachineReachesTheServer() {
        assertThat(server).containsEntry("ports", List.of("127.0.0.1:5432:5432"));
    }

    @Test
    void loginExampleFindsIt() {
        Map<String, Object> login = read("login/src/main/resources/application-postgresql.yaml");
        assertConnects(map(map(map(login, "ratelimit"), "store"), "postgresql"));
    }

    @Test
    void jpaExampleFindsIt() {
        Map<String, Object> jpa = read("jpa/src/main/resources/application.yaml");
        assertConnects(map(map(jpa, "spring"), "datasource"));
    }

    @Test
    void cleanupExampleFindsIt() {
        Map<String, Object> environment = map(server, "environment");
        assertThat(Documents.read(EXAMPLES.resolve("cleanup/src/main/java/example/cleanup/Cleanup.java")))
                .contains(url() + "?user=" + environment.get("POSTGRES_USER") + "&password="
                        + environment.get("POSTGRES_PASSWORD"));
    }

    private void assertConnects(Map<String, Object> connection) {
        Map<String, Object> environment = map(server, "environment");
        assertThat(connection)
                .containsEntry("url", url())
                .containsEntry("username", environment.get("POSTGRES_USER"))
                .containsEntry("password", environment.get("POSTGRES_PASSWORD"));
    }

    private String url() {
        return "jdbc:postgresql://localhost:5432/" + map(server, "environment").get("POSTGRES_DB");
    }
}
