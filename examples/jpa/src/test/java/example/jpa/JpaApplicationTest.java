package example.jpa;

import static org.assertj.core.api.Assertions.assertThat;

import dev.ratelimit.testing.postgres.TestPostgres;
import javax.sql.DataSource;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.springframework.boot.WebApplicationType;
import org.springframework.boot.builder.SpringApplicationBuilder;
import org.springframework.boot.test.system.CapturedOutput;
import org.springframework.boot.test.system.OutputCaptureExtension;
import org.springframework.boot.web.server.servlet.context.ServletWebServerApplicationContext;
import org.springframework.context.ConfigurableApplicationContext;
import org.springframework.http.HttpStatusCode;
import org.springframework.jdbc.core.JdbcTemplate;
import org.springframework.web.client.RestClient;

/** The starter in an application with Spring Data JPA: the application's repositories are found as they are without it. */
@ExtendWith(OutputCaptureExtension.class)
class JpaApplicationTest {

    private final String schema = TestPostgres.instance().freshSchema();

    @Test
    void repositoryAndLimitsWorkBesideEachOther(CapturedOutput output) {
        try (ConfigurableApplicationContext application = started()) {
            for (int i = 0; i < 5; i++) {
                assertThat(post(application, "note " + i).value()).isEqualTo(200);
            }
            assertThat(post(application, "one too many").value()).isEqualTo(429);

            assertThat(application.getBean(Notes.class).count()).isEqualTo(5);
            assertThat(countedInTheDatabaseOfTheApplication(application)).isEqualTo(5);
        }
        assertThat(output)
                .contains("Bootstrapping Spring Data JPA repositories", "Found 1 JPA repository interface")
                .doesNotContain("strict repository configuration mode");
    }

    private ConfigurableApplicationContext started() {
        return new SpringApplicationBuilder(JpaApplication.class)
                .web(WebApplicationType.SERVLET)
                .run(
                        "--server.port=0",
                        "--spring.datasource.url=" + TestPostgres.instance().jdbcUrl(),
                        "--spring.datasource.username=",
                        "--spring.datasource.password=",
                        "--spring.jpa.hibernate.ddl-auto=create-drop",
                        "--ratelimit.store.deadline=10s",
                        "--ratelimit.limits.notes.window=3660d",
                        "--ratelimit.store.postgresql.schema=" + schema);
    }

    private static HttpStatusCode post(ConfigurableApplicationContext application, String text) {
        int port = ((ServletWebServerApplicationContext) application)
                .getWebServer()
                .getPort();
        return RestClient.create("http://localhost:" + port)
                .post()
                .uri("/notes")
                .body(text)
                .exchange((request, response) -> response.getStatusCode());
    }

    private Long countedInTheDatabaseOfTheApplication(ConfigurableApplicationContext application) {
        return new JdbcTemplate(application.getBean(DataSource.class))
                .queryForObject("SELECT sum(request_count) FROM " + schema + ".rate_limits", Long.class);
    }
}
