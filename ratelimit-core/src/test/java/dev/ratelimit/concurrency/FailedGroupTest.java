package dev.ratelimit.concurrency;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.ratelimit.Limit;
import dev.ratelimit.Rate;
import dev.ratelimit.Subject;
import dev.ratelimit.algorithm.TokenBucket;
import dev.ratelimit.schema.Schema;
import dev.ratelimit.store.Operation;
import dev.ratelimit.store.Operation.Demand;
import dev.ratelimit.store.Operation.Kind;
import dev.ratelimit.store.UnreachedStoreException;
import dev.ratelimit.store.sqlite.SqliteFile;
import dev.ratelimit.store.sqlite.SqliteLimitStore;
import dev.ratelimit.testing.SettableClock;
import java.nio.file.Path;
import java.sql.Connection;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Duration;
import java.time.InstantSource;
import java.util.List;
import java.util.concurrent.atomic.AtomicBoolean;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

@Timeout(30)
class FailedGroupTest {

    private static final List<Operation> GROUP = List.of(new Operation(
            Kind.DECIDE,
            List.of(new Demand(
                    Subject.user("alice"),
                    Limit.named("api")
                            .algorithm(new TokenBucket(5, Rate.perMinute(5)))
                            .build(),
                    1))));

    /** Such as no memory, or a clock that throws. */
    @Test
    void errorInTheMiddleOfAGroupLeavesNoTransactionOpenOnSqlite(@TempDir Path folder) {
        SqliteFile file = SqliteFile.at(folder.resolve("ratelimit.db")).busyTimeout(Duration.ofMillis(200));
        Schema.migrate(file);
        AtomicBoolean broken = new AtomicBoolean(true);
        SettableClock clock = new SettableClock();
        InstantSource breaking = () -> {
            if (broken.get()) {
                throw new IllegalStateException("the clock is broken");
            }
            return clock.instant();
        };
        try (SqliteLimitStore store = new SqliteLimitStore(file, breaking);
                SqliteLimitStore ofAnotherProcess = new SqliteLimitStore(file, clock)) {
            assertThatThrownBy(() -> store.decide(GROUP)).hasMessageContaining("the clock is broken");
            broken.set(false);

            assertThat(ofAnotherProcess.decide(GROUP).get(0).allowed()).isTrue();
            assertThat(store.decide(GROUP).get(0).verdicts().get(0).remaining()).isEqualTo(3);
        }
    }

    /** Only then may a refund be made again. */
    @Test
    void groupThatWaitedInVainForAnotherProcessIsSaidToHaveChangedNothing(@TempDir Path folder) throws SQLException {
        SqliteFile file = SqliteFile.at(folder.resolve("ratelimit.db")).busyTimeout(Duration.ofMillis(20));
        Schema.migrate(file);
        try (SqliteLimitStore store = new SqliteLimitStore(file);
                Connection other = file.dataSource().getConnection();
                Statement statement = other.createStatement()) {
            assertThat(store.decide(GROUP).get(0).allowed()).isTrue();
            statement.execute("BEGIN IMMEDIATE");

            assertThatThrownBy(() -> store.decide(GROUP)).isInstanceOf(UnreachedStoreException.class);

            statement.execute("ROLLBACK");
            assertThat(store.decide(GROUP).get(0).verdicts().get(0).remaining()).isEqualTo(3);
        }
    }
}
