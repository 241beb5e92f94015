package dev.ratelimit.concurrency;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.catchThrowableOfType;

import dev.ratelimit.Subject;
import dev.ratelimit.schema.Schema;
import dev.ratelimit.store.Answer;
import dev.ratelimit.store.LockedKeysException;
import dev.ratelimit.store.Operation;
import dev.ratelimit.store.Operation.Demand;
import dev.ratelimit.store.Operation.Kind;
import dev.ratelimit.store.StateKey;
import dev.ratelimit.store.postgresql.PostgresLimitStore;
import dev.ratelimit.testing.postgres.TestPostgres;
import java.io.BufferedReader;
import java.io.InputStreamReader;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.condition.EnabledOnOs;
import org.junit.jupiter.api.condition.OS;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** An instance that is stopped, with SIGSTOP, while it holds a row. */
@Timeout(60)
class PausedInstanceTest {

    private static final Duration ITS_DEADLINE = Duration.ofSeconds(3);
    private static final Duration DEADLINE = Duration.ofMillis(600);

    private static final Subject OTHER = Subject.user("other");

    private final TestPostgres postgres = TestPostgres.instance();

    private static Operation decide(Subject subject) {
        return new Operation(Kind.DECIDE, List.of(new Demand(subject, HoldingProcess.LIMIT, 1)));
    }

    @ParameterizedTest
    @ValueSource(booleans = {true, false})
    @EnabledOnOs({OS.LINUX, OS.MAC})
    void pausedInstanceDelaysOthersByLessThanTheirDeadline(boolean byTheStatement) throws Exception {
        String schema = postgres.freshSchema();
        Schema.migrate(postgres.dataSource(), schema);
        PostgresLimitStore store = new PostgresLimitStore(postgres.dataSource(), schema).withDeadline(DEADLINE);
        store.decide(List.of(decide(HoldingProcess.SUBJECT), decide(OTHER)));
        List<Operation> others = byTheStatement ? List.of(decide(OTHER)) : HoldingProcess.inJava(OTHER);
        List<Operation> group = new ArrayList<>(others);
        group.addAll(
                byTheStatement
                        ? List.of(decide(HoldingProcess.SUBJECT))
                        : HoldingProcess.inJava(HoldingProcess.SUBJECT));

        Process paused = start(schema);
        try (BufferedReader output =
                new BufferedReader(new InputStreamReader(paused.getInputStream(), StandardCharsets.UTF_8))) {
            awaitLine(output, HoldingProcess.HOLDING);
            signal(paused, "STOP");

            long start = System.nanoTime();
            LockedKeysException locked = catchThrowableOfType(LockedKeysException.class, () -> store.decide(group));
            List<Answer> rest = store.decide(others);
            Duration delay = Duration.ofNanos(System.nanoTime() - start);

            assertThat(locked.keys()).containsExactly(StateKey.of(HoldingProcess.SUBJECT, HoldingProcess.LIMIT.name()));
            assertThat(rest.get(0).allowed()).isTrue();
            assertThat(delay).isBetween(DEADLINE.dividedBy(2), DEADLINE);

            // The database ends its transaction, and the row is free although the process still stands still.
            Awaitility.await().atMost(Duration.ofSeconds(20)).until(() -> isDecided(store));
            signal(paused, "CONT");
            paused.getOutputStream().write('\n');
            paused.getOutputStream().flush();

            // It tries once more: two were admitted before.
            assertThat(awaitLine(output, "remaining")).isEqualTo("remaining 97");
        } finally {
            paused.destroyForcibly();
        }
    }

    private static boolean isDecided(PostgresLimitStore store) {
        try {
            return store.decide(List.of(decide(HoldingProcess.SUBJECT))).get(0).allowed();
        } catch (LockedKeysException e) {
            return false;
        }
    }

    private Process start(String schema) throws Exception {
        return new ProcessBuilder(
                        Path.of(System.getProperty("java.home"), "bin", "java").toString(),
                        "-Xmx128m",
                        "-XX:TieredStopAtLevel=1",
                        "-cp",
                        System.getProperty("java.class.path"),
                        HoldingProcess.class.getName(),
                        postgres.jdbcUrl(),
                        schema,
                        String.valueOf(ITS_DEADLINE.toMillis()))
                .redirectError(ProcessBuilder.Redirect.INHERIT)
                .start();
    }

    private static String awaitLine(BufferedReader output, String beginning) throws Exception {
        for (String line = output.readLine(); line != null; line = output.readLine()) {
            if (line.startsWith(beginning)) {
                return line;
            }
        }
        throw new AssertionError("the process ended before it said: " + beginning);
    }

    private static void signal(Process process, String name) throws Exception {
        assertThat(new ProcessBuilder("kill", "-" + name, String.valueOf(process.pid()))
                        .start()
                        .waitFor())
                .isZero();
    }
}
