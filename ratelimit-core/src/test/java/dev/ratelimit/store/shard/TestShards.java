package dev.ratelimit.store.shard;

import dev.ratelimit.Limit;
import dev.ratelimit.Subject;
import dev.ratelimit.algorithm.FixedWindow;
import dev.ratelimit.schema.Schema;
import dev.ratelimit.store.Answer;
import dev.ratelimit.store.LimitStore;
import dev.ratelimit.store.LimitStoreException;
import dev.ratelimit.store.Operation;
import dev.ratelimit.store.Operation.Demand;
import dev.ratelimit.store.Operation.Kind;
import dev.ratelimit.store.postgresql.PostgresLimitStore;
import dev.ratelimit.store.postgresql.shard.PostgresShardTables;
import dev.ratelimit.store.postgresql.swap.PostgresSwapStore;
import dev.ratelimit.testing.postgres.TestPostgres;
import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.function.BiFunction;
import java.util.stream.IntStream;
import javax.sql.DataSource;

/** Shards a, b, c … in schemas of the server that tests share. */
final class TestShards {

    static final Duration LONG = Duration.ofSeconds(20);

    /** Never reads the list again by itself. */
    static final ShardWatch.Timing ASLEEP =
            new ShardWatch.Timing(Duration.ofHours(1), Duration.ofHours(1), Duration.ofHours(1));

    /** Reads the list often, and moves state at once. */
    static final ShardWatch.Timing AWAKE =
            new ShardWatch.Timing(Duration.ofMillis(20), Duration.ofMillis(20), Duration.ofMillis(200));

    private static final DataSource DATABASE = TestPostgres.instance().dataSource();

    private final Map<String, String> schemas = new TreeMap<>();

    private String schema(String name) {
        return schemas.computeIfAbsent(name, unused -> {
            String schema = TestPostgres.instance().freshSchema();
            Schema.migrate(DATABASE, schema);
            return schema;
        });
    }

    PostgresLimitStore store(String name) {
        return new PostgresLimitStore(DATABASE, schema(name)).withDeadline(LONG);
    }

    PostgresShardTables tables(String name) {
        return new PostgresShardTables(DATABASE, schema(name), LONG);
    }

    ShardedLimitStore open(ShardWatch.Timing timing, String... names) {
        return open(timing, (name, tables) -> tables, names);
    }

    /**
     * @param around replaces the tables of a shard, by its name
     */
    ShardedLimitStore open(
            ShardWatch.Timing timing, BiFunction<String, ShardTables, ShardTables> around, String... names) {
        List<Shard> shards = new ArrayList<>();
        for (String name : names) {
            shards.add(new Shard(name, store(name), around.apply(name, tables(name))));
        }
        return new ShardedLimitStore(shards, LONG, timing);
    }

    /** Decides by swaps instead of locks. */
    ShardedLimitStore openSwapping(ShardWatch.Timing timing, String... names) {
        return openSwapping(timing, (name, tables) -> tables, names);
    }

    ShardedLimitStore openSwapping(
            ShardWatch.Timing timing, BiFunction<String, ShardTables, ShardTables> around, String... names) {
        List<Shard> shards = new ArrayList<>();
        for (String name : names) {
            LimitStore store = new PostgresSwapStore(DATABASE, schema(name)).withDeadline(LONG);
            shards.add(new Shard(name, store, around.apply(name, tables(name))));
        }
        return new ShardedLimitStore(shards, LONG, timing);
    }

    long count(String name, String condition) throws SQLException {
        try (Connection connection = DATABASE.getConnection();
                Statement statement = connection.createStatement();
                ResultSet row = statement.executeQuery(
                        "SELECT count(*) FROM " + schema(name) + ".rate_limits WHERE " + condition)) {
            row.next();
            return row.getLong(1);
        }
    }

    /** Runs what an operator would, for the default schema. */
    void execute(String name, String sql) throws SQLException {
        try (Connection connection = DATABASE.getConnection();
                Statement statement = connection.createStatement()) {
            statement.execute(sql.replace("ratelimit.", schema(name) + "."));
        }
    }

    static Limit atMost(String name, long most) {
        return Limit.named(name)
                .algorithm(new FixedWindow(most, Duration.ofDays(3650)))
                .build();
    }

    static List<Subject> users(int number) {
        return IntStream.range(0, number)
                .mapToObj(i -> Subject.user("user" + i))
                .toList();
    }

    static Operation operation(Kind kind, Subject subject, Limit limit) {
        return new Operation(kind, List.of(new Demand(subject, limit, 1)));
    }

    static boolean isAllowed(LimitStore store, Subject subject, Limit limit) {
        return store.decide(operation(Kind.DECIDE, subject, limit)).allowed();
    }

    static long charged(LimitStore store, Subject subject, Limit limit) {
        Answer answer = store.decide(operation(Kind.PEEK, subject, limit));
        return limit.capacity() - answer.first().remaining();
    }

    /** Asks that often; a request that the store does not decide counts as denied. */
    static int admitted(LimitStore store, Subject subject, Limit limit, int times) {
        int admitted = 0;
        for (int i = 0; i < times; i++) {
            try {
                admitted += isAllowed(store, subject, limit) ? 1 : 0;
            } catch (LimitStoreException e) {
                continue;
            }
        }
        return admitted;
    }
}
