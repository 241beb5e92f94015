package dev.ratelimit.sample;

import static org.assertj.core.api.Assertions.assertThat;

import dev.ratelimit.admin.RateLimitAdmin;
import dev.ratelimit.sample.Client.Answer;
import dev.ratelimit.testing.postgres.TestPostgres;
import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Function;
import java.util.function.Supplier;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;
import org.springframework.boot.SpringApplication;
import org.springframework.context.ConfigurableApplicationContext;

/** Two copies of the sample with the profile {@code postgresql} on one database, by its clock. */
class TwoCopiesTest {

    private static final String URL = TestPostgres.instance().jdbcUrl();
    private static final String SCHEMA = TestPostgres.instance().freshSchema();

    private static ConfigurableApplicationContext one;
    private static ConfigurableApplicationContext other;

    @BeforeAll
    static void start() {
        one = copy();
        other = copy();
    }

    private static ConfigurableApplicationContext copy() {
        return SpringApplication.run(
                SampleApplication.class,
                "--spring.profiles.active=postgresql",
                "--server.port=0",
                "--ratelimit.store.deadline=10s",
                "--RATELIMIT_DB_URL=" + URL,
                "--RATELIMIT_DB_USERNAME=",
                "--RATELIMIT_DB_PASSWORD=",
                "--RATELIMIT_DB_SCHEMA=" + SCHEMA);
    }

    @AfterAll
    static void stop() {
        if (other != null) {
            other.close();
        }
        if (one != null) {
            one.close();
        }
    }

    private static Client client(ConfigurableApplicationContext copy) {
        return new Client(Integer.parseInt(copy.getEnvironment().getProperty("local.server.port")));
    }

    /** Sends that number of requests to each copy, all at the same moment. */
    private static List<Answer> atBoth(int each, Function<Client, Answer> request) {
        List<Supplier<Answer>> requests = new ArrayList<>();
        for (int i = 0; i < each; i++) {
            requests.add(() -> request.apply(client(one)));
            requests.add(() -> request.apply(client(other)));
        }
        return Client.together(requests);
    }

    @Test
    @DisplayName("The profile postgresql keeps the limits in PostgreSQL")
    void limitsAreKeptInPostgres() throws SQLException {
        client(one).createCampaign("alice");

        try (Connection connection = DriverManager.getConnection(URL);
                Statement statement = connection.createStatement();
                ResultSet rows = statement.executeQuery(
                        "SELECT resource FROM " + SCHEMA
                                + ".rate_limits WHERE user_id = 'user:alice' AND resource LIKE 'creation%' ORDER BY resource")) {
            assertThat(connection.getMetaData().getDatabaseProductName()).isEqualTo("PostgreSQL");
            List<String> limits = new ArrayList<>();
            while (rows.next()) {
                limits.add(rows.getString(1));
            }
            assertThat(limits).containsExactly("creation", "creation-burst");
        }
    }

    @Test
    @DisplayName("Two copies on one PostgreSQL leave each other's demo keys alone")
    void demoKeys() {
        Instant now = Instant.now();

        assertThat(one.getBean(RateLimitAdmin.class).keys().list())
                .filteredOn(key -> key.isActive(now))
                .extracting(key -> key.key().name())
                .hasSize(4)
                .doesNotHaveDuplicates();
    }

    @Test
    @DisplayName("Two copies on one PostgreSQL admit together exactly the five joins that one would")
    void joins() {
        assertThat(Client.passed(atBoth(10, copy -> copy.join("alice")))).isEqualTo(5);
        assertThat(client(one).join("alice").status()).isEqualTo(429);
        assertThat(client(other).join("alice").status()).isEqualTo(429);
    }

    @Test
    @DisplayName("Two copies on one PostgreSQL look at five guesses together, and both know the penalty")
    void logins() {
        List<Answer> answers = atBoth(10, copy -> copy.login("bob", "wrong"));

        assertThat(answers).filteredOn(answer -> answer.status() == 401).hasSize(5);
        assertThat(client(one).login("bob", "bob").body()).contains("\"penalty_active\":true");
        assertThat(client(other).login("bob", "bob").body()).contains("\"penalty_active\":true");
    }

    @Test
    @DisplayName(
            "Two copies on one PostgreSQL admit together the burst that one would, and what was refilled meanwhile")
    void reads() {
        long start = System.nanoTime();
        List<Answer> answers = atBoth(15, copy -> copy.read("alice"));
        long refilled = Duration.ofNanos(System.nanoTime() - start).toSeconds() + 1;

        assertThat(Client.passed(answers)).isBetween(10L, 10 + refilled);
    }
}
