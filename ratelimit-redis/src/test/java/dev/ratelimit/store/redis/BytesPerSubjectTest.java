package dev.ratelimit.store.redis;

import static org.assertj.core.api.Assertions.assertThat;

import dev.ratelimit.Limit;
import dev.ratelimit.Rate;
import dev.ratelimit.Subject;
import dev.ratelimit.algorithm.FixedWindow;
import dev.ratelimit.algorithm.SlidingLog;
import dev.ratelimit.algorithm.TokenBucket;
import dev.ratelimit.schema.Schema;
import dev.ratelimit.store.LimitStore;
import dev.ratelimit.store.Operation;
import dev.ratelimit.store.Operation.Demand;
import dev.ratelimit.store.Operation.Kind;
import dev.ratelimit.store.postgresql.PostgresLimitStore;
import dev.ratelimit.store.sqlite.SqliteFile;
import dev.ratelimit.store.sqlite.SqliteLimitStore;
import dev.ratelimit.testing.postgres.TestPostgres;
import io.lettuce.core.RedisClient;
import java.nio.file.Path;
import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.Statement;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import javax.sql.DataSource;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Prints the space that a subject takes in each store, for docs/scale.md. */
class BytesPerSubjectTest {

    private static final int SUBJECTS = 20_000;

    private static final int GROUP = 1_000;

    private static final List<Limit> LIMITS = List.of(
            Limit.named("calls")
                    .algorithm(new TokenBucket(100, Rate.perMinute(1)))
                    .build(),
            Limit.named("calls")
                    .algorithm(new FixedWindow(100, Duration.ofDays(1)))
                    .build(),
            Limit.named("calls")
                    .algorithm(new SlidingLog(100, Duration.ofDays(1)))
                    .build());

    @TempDir
    Path folder;

    @Test
    void inRedis() {
        for (Limit limit : LIMITS) {
            TestRedis.single().call(redis -> redis.flushall());
            RedisClient client = TestRedis.client(TestRedis.single());
            try (LimitStore store =
                    RedisLimitStore.open(client, RedisOptions.DEFAULT.withDeadline(Duration.ofSeconds(20)))) {
                fill(store, limit);
                long bytes = TestRedis.single().call(redis -> {
                    long sum = 0;
                    for (String key : redis.keys("rl:{user:user-00*")) {
                        sum += redis.memoryUsage(key);
                    }
                    return sum;
                });
                print("Redis", limit, bytes, 1_000);
            } finally {
                TestRedis.shutdown(client);
            }
        }
    }

    @Test
    void inPostgres() throws Exception {
        DataSource database = TestPostgres.instance().dataSource();
        for (Limit limit : LIMITS) {
            String schema = TestPostgres.instance().freshSchema();
            Schema.migrate(database, schema);
            try (LimitStore store = new PostgresLimitStore(database, schema).withDeadline(Duration.ofSeconds(20))) {
                fill(store, limit);
            }
            print(
                    "PostgreSQL",
                    limit,
                    number(database, "SELECT pg_total_relation_size('" + schema + ".rate_limits')"),
                    SUBJECTS);
        }
    }

    @Test
    void inSqlite() throws Exception {
        for (Limit limit : LIMITS) {
            SqliteFile file = SqliteFile.at(folder.resolve(limit.algorithm().name() + ".db"));
            Schema.migrate(file);
            String size = "SELECT page_count * page_size FROM pragma_page_count(), pragma_page_size()";
            long before = number(file.dataSource(), size);
            try (LimitStore store = new SqliteLimitStore(file)) {
                fill(store, limit);
            }
            print("SQLite", limit, number(file.dataSource(), size) - before, SUBJECTS);
        }
    }

    /** One request of each subject; the names are as long as a UUID with its prefix is. */
    private static void fill(LimitStore store, Limit limit) {
        for (int first = 0; first < SUBJECTS; first += GROUP) {
            List<Operation> group = new ArrayList<>();
            for (int i = first; i < first + GROUP; i++) {
                Subject subject = Subject.user("user-%05d-aaaa-bbbb-cccc-ddddeeeeffff".formatted(i));
                group.add(new Operation(Kind.DECIDE, List.of(new Demand(subject, limit, 1))));
            }
            store.decide(group);
        }
    }

    private static long number(DataSource database, String sql) throws Exception {
        try (Connection connection = database.getConnection();
                Statement statement = connection.createStatement();
                ResultSet row = statement.executeQuery(sql)) {
            row.next();
            return row.getLong(1);
        }
    }

    private static void print(String store, Limit limit, long bytes, int subjects) {
        long each = bytes / subjects;
        System.out.printf(
                "%s, %s: %d bytes for each subject%n", store, limit.algorithm().name(), each);
        assertThat(each).isBetween(50L, 1_500L);
    }
}
