package dev.ratelimit.store;

import static org.assertj.core.api.Assertions.assertThat;

import dev.ratelimit.Decision;
import dev.ratelimit.Limit;
import dev.ratelimit.LimitRequest;
import dev.ratelimit.Limits;
import dev.ratelimit.Outcome;
import dev.ratelimit.Subject;
import dev.ratelimit.algorithm.FixedWindow;
import dev.ratelimit.engine.StoreRateLimiter;
import dev.ratelimit.schema.Schema;
import dev.ratelimit.store.postgresql.PostgresLimitStore;
import dev.ratelimit.store.sqlite.SqliteFile;
import dev.ratelimit.store.sqlite.SqliteLimitStore;
import dev.ratelimit.testing.SettableClock;
import dev.ratelimit.testing.TestStores;
import dev.ratelimit.testing.postgres.TestPostgres;
import java.nio.file.Path;
import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import javax.sql.DataSource;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.postgresql.ds.PGSimpleDataSource;
import org.postgresql.jdbc.PreferQueryMode;

/** Every subject is counted and found in the tables by its text, whatever its name. */
class SubjectInDatabaseTest {

    private static final Limit TWICE = Limit.named("api")
            .algorithm(new FixedWindow(2, Duration.ofHours(1)))
            .penalty(1, Duration.ofMinutes(5))
            .build();

    private static final List<Subject> SUBJECTS = List.of(
            Subject.user("alice"),
            Subject.user("a\u0000b"),
            Subject.user("a"),
            Subject.user("O'Brien"),
            Subject.user("say \"hi\""),
            Subject.user("'); DROP TABLE rate_limits; --"),
            Subject.user("back\\slash"),
            Subject.user("{a,\"b\",NULL}"),
            Subject.user("NULL"),
            Subject.user("%"),
            Subject.user("_"),
            Subject.user("😀"),
            Subject.user("\uD83D"),
            Subject.user("\uDE00"),
            Subject.user("\uFFFF"),
            Subject.user("\u202Eecila"),
            Subject.user("Zo\u00EB"),
            Subject.user("Alice"),
            Subject.user("😀".repeat(500_000)),
            Subject.user("a".repeat(1_000_000)),
            Subject.user("\u0000".repeat(1_000_000)),
            Subject.user("a").and("ip", "2001:db8::7"));

    @Test
    void anySubjectIsCountedOnSqlite(@TempDir Path folder) throws SQLException {
        try (SqliteLimitStore store = TestStores.sqlite(folder, new SettableClock())) {
            eachIsCounted(store);
        }
        DataSource dataSource = SqliteFile.at(folder.resolve("ratelimit.db")).dataSource();
        assertThat(userIds(dataSource, "rate_limits")).containsExactlyInAnyOrderElementsOf(texts());
        assertThat(userIds(dataSource, "rate_limit_penalties")).containsExactlyInAnyOrderElementsOf(texts());
    }

    /** In the simple mode, the driver writes the values into the statement itself. */
    @ParameterizedTest
    @EnumSource(
            value = PreferQueryMode.class,
            names = {"EXTENDED", "SIMPLE"})
    void anySubjectIsCountedOnPostgres(PreferQueryMode mode) throws SQLException {
        String schema = TestPostgres.instance().freshSchema();
        Schema.migrate(TestPostgres.instance().dataSource(), schema);
        PGSimpleDataSource dataSource = new PGSimpleDataSource();
        dataSource.setUrl(TestPostgres.instance().jdbcUrl());
        dataSource.setPreferQueryMode(mode);
        try (PostgresLimitStore store = new PostgresLimitStore(dataSource, schema, new SettableClock())) {
            eachIsCounted(store);
        }
        assertThat(userIds(dataSource, schema + ".rate_limits")).containsExactlyInAnyOrderElementsOf(texts());
        assertThat(userIds(dataSource, schema + ".rate_limit_penalties")).containsExactlyInAnyOrderElementsOf(texts());
    }

    /** Each round asks for every subject, so that two subjects taken for one would use up each other's limit. */
    private static void eachIsCounted(LimitStore store) {
        try (StoreRateLimiter limiter =
                StoreRateLimiter.builder(store, Limits.of(TWICE)).build()) {
            assertEachIs(limiter, Outcome.ALLOWED, 1);
            assertEachIs(limiter, Outcome.ALLOWED, 0);
            assertEachIs(limiter, Outcome.THROTTLED, 0);
            assertEachIs(limiter, Outcome.BLOCKED, 0);
        }
    }

    private static void assertEachIs(StoreRateLimiter limiter, Outcome outcome, long remaining) {
        for (Subject subject : SUBJECTS) {
            Decision decision = limiter.decide(LimitRequest.of(subject, "api"));
            assertThat(decision.failure()).as("failure of %s", subject).isNull();
            assertThat(decision.outcome()).as("outcome of %s", subject).isEqualTo(outcome);
            assertThat(decision.remaining()).as("remaining of %s", subject).isEqualTo(remaining);
        }
    }

    private static List<String> texts() {
        return SUBJECTS.stream().map(Subject::text).toList();
    }

    private static List<String> userIds(DataSource dataSource, String table) throws SQLException {
        try (Connection connection = dataSource.getConnection();
                Statement statement = connection.createStatement();
                ResultSet rows = statement.executeQuery("SELECT user_id FROM " + table)) {
            List<String> ids = new ArrayList<>();
            while (rows.next()) {
                ids.add(rows.getString(1));
            }
            return ids;
        }
    }
}
