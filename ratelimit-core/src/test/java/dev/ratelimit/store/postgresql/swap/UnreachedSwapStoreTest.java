package dev.ratelimit.store.postgresql.swap;

import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.ratelimit.Limit;
import dev.ratelimit.Subject;
import dev.ratelimit.algorithm.FixedWindow;
import dev.ratelimit.store.Operation;
import dev.ratelimit.store.Operation.Demand;
import dev.ratelimit.store.Operation.Kind;
import dev.ratelimit.store.UnreachedStoreException;
import java.io.IOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.time.Duration;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.postgresql.ds.PGSimpleDataSource;

/** Without a connection, nothing was changed. Only then may a refund be made again. */
class UnreachedSwapStoreTest {

    private static final Limit LIMIT = Limit.named("limit")
            .algorithm(new FixedWindow(10, Duration.ofDays(365)))
            .build();

    @Test
    void saysThatNothingWasChangedIfThereIsNoConnection() throws IOException {
        PGSimpleDataSource nobody = new PGSimpleDataSource();
        nobody.setUrl("jdbc:postgresql://localhost:" + closedPort() + "/postgres");
        PostgresSwapStore store = new PostgresSwapStore(nobody, "ratelimit");

        for (Kind kind : List.of(Kind.DECIDE, Kind.PEEK, Kind.RESET)) {
            Operation operation = new Operation(kind, List.of(new Demand(Subject.user("alice"), LIMIT, 1)));
            assertThatThrownBy(() -> store.decide(List.of(operation)))
                    .isInstanceOf(UnreachedStoreException.class)
                    .hasMessageContaining("PostgreSQL failed: ");
        }
    }

    private static int closedPort() throws IOException {
        try (ServerSocket free = new ServerSocket(0, 1, InetAddress.getLoopbackAddress())) {
            return free.getLocalPort();
        }
    }
}
