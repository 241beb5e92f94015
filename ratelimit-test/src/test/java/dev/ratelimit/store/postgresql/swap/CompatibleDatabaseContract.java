package dev.ratelimit.store.postgresql.swap;

import static org.assertj.core.api.Assertions.assertThat;

import dev.ratelimit.Limit;
import dev.ratelimit.algorithm.FixedWindow;
import dev.ratelimit.schema.Schema;
import dev.ratelimit.store.LimitStore;
import dev.ratelimit.store.Operation;
import dev.ratelimit.store.Operation.Demand;
import dev.ratelimit.store.Operation.Kind;
import dev.ratelimit.test.store.LimitStoreContract;
import dev.ratelimit.testing.postgres.CompatibleDatabase;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Duration;
import java.time.InstantSource;
import java.util.ArrayList;
import java.util.EnumMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import javax.sql.DataSource;
import org.junit.jupiter.api.Test;

/** The contract of stores, on a database that is compatible with PostgreSQL. */
abstract class CompatibleDatabaseContract extends LimitStoreContract {

    private static final String SCHEMA = "ratelimit";
    private static final Map<CompatibleDatabase, DataSource> STARTED = new EnumMap<>(CompatibleDatabase.class);

    private final CompatibleDatabase database;
    private final String expected;

    /**
     * @param expected a pattern for the text of {@code version()}
     */
    CompatibleDatabaseContract(CompatibleDatabase database, String expected) {
        this.database = database;
        this.expected = expected;
    }

    /** Once the tables are there. */
    void prepare(Statement statement) throws SQLException {}

    private DataSource dataSource() throws SQLException {
        DataSource known = STARTED.get(database);
        if (known != null) {
            return known;
        }
        DataSource started = database.start();
        Schema.migrate(started, SCHEMA);
        try (Connection connection = started.getConnection();
                Statement statement = connection.createStatement()) {
            prepare(statement);
        }
        STARTED.put(database, started);
        return started;
    }

    @Override
    protected LimitStore open(InstantSource clock) throws SQLException {
        DataSource dataSource = dataSource();
        try (Connection connection = dataSource.getConnection();
                Statement statement = connection.createStatement()) {
            statement.execute("DELETE FROM " + SCHEMA + ".rate_limits");
            statement.execute("DELETE FROM " + SCHEMA + ".rate_limit_penalties");
        }
        return new PostgresSwapStore(dataSource, SCHEMA, clock).withDeadline(Duration.ofSeconds(30));
    }

    @Override
    protected boolean isStored(String subject) throws SQLException {
        try (Connection connection = dataSource().getConnection();
                PreparedStatement select =
                        connection.prepareStatement("SELECT 1 FROM " + SCHEMA + ".rate_limits WHERE user_id = ?")) {
            select.setString(1, subject);
            return select.executeQuery().next();
        }
    }

    @Override
    protected String databaseInUse() throws SQLException {
        try (Connection connection = dataSource().getConnection();
                Statement statement = connection.createStatement();
                ResultSet row = statement.executeQuery("SELECT version()")) {
            row.next();
            return row.getString(1);
        }
    }

    @Override
    protected String expectedDatabase() {
        return expected;
    }

    @Test
    void instancesAdmitExactlyTheLimitOnTheClockOfTheDatabase() throws Exception {
        Limit limit = Limit.named("shared")
                .algorithm(new FixedWindow(100, Duration.ofDays(3650)))
                .penalty(1_000, Duration.ofMinutes(1))
                .build();
        Limit second = Limit.named("second")
                .algorithm(new FixedWindow(1_000, Duration.ofDays(3650)))
                .build();
        Operation decide =
                new Operation(Kind.DECIDE, List.of(new Demand(ALICE, limit, 1), new Demand(ALICE, second, 1)));
        AtomicInteger admitted = new AtomicInteger();
        List<CompletableFuture<Void>> instances = new ArrayList<>();
        for (int i = 0; i < 4; i++) {
            LimitStore instance = new PostgresSwapStore(dataSource(), SCHEMA).withDeadline(Duration.ofMinutes(1));
            instances.add(CompletableFuture.runAsync(() -> {
                for (int n = 0; n < 50; n++) {
                    if (instance.decide(decide).allowed()) {
                        admitted.incrementAndGet();
                    }
                }
            }));
        }
        CompletableFuture.allOf(instances.toArray(CompletableFuture[]::new)).get(5, TimeUnit.MINUTES);

        assertThat(admitted).hasValue(100);
    }
}
