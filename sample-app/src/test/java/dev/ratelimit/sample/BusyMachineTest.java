package dev.ratelimit.sample;

import static org.assertj.core.api.Assertions.assertThat;

import dev.ratelimit.testing.postgres.TestPostgres;
import java.io.IOException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The sample beside processes that use up the machine, with the deadline that is the default: many requests are late. Bursts
 * right after the start and seconds later pass exactly what the limits allow: 5 joins in 15 minutes, and 10 reads with
 * one more each second.
 *
 * <p>Once in each build; ten times, beside more processes, with {@code mvn verify -Pbusy}.
 */
class BusyMachineTest {

    private static final Logger log = LoggerFactory.getLogger(BusyMachineTest.class);

    /** More than a machine of two processors has, so that everything else is late. */
    private static final int BUSY = Integer.getInteger("ratelimit.busy.processes", 4);

    private static final int REQUESTS = 100;
    private static final int JOINS = 5;
    private static final int READS = 10;
    private static final Duration PAUSE = Duration.ofSeconds(4);

    @TempDir
    Path folder;

    enum Store {
        SQLITE,
        POSTGRESQL;

        String[] settings(Path folder) {
            return switch (this) {
                case SQLITE -> new String[] {"--ratelimit.store.sqlite.path=" + folder.resolve("ratelimit.db")};
                case POSTGRESQL ->
                    new String[] {
                        "--spring.profiles.active=postgresql",
                        "--RATELIMIT_DB_URL=" + TestPostgres.instance().jdbcUrl(),
                        "--RATELIMIT_DB_USERNAME=",
                        "--RATELIMIT_DB_PASSWORD=",
                        "--RATELIMIT_DB_SCHEMA=" + TestPostgres.instance().freshSchema()
                    };
            };
        }
    }

    static Stream<Arguments> rounds() {
        return IntStream.rangeClosed(1, Integer.getInteger("ratelimit.busy.rounds", 1))
                .boxed()
                .flatMap(round -> Stream.of(Store.values()).map(store -> Arguments.of(store, round)));
    }

    @ParameterizedTest(name = "{0}, round {1}")
    @MethodSource("rounds")
    void burstsPassExactlyTheLimit(Store store, int round) throws Exception {
        String[] settings = store.settings(folder); // which may start the database
        try (BusyProcesses busy = BusyProcesses.start(BUSY);
                ChildJvm sample = ChildJvm.startSample(folder, settings)) {
            // Each kind of request is in turn the very first.
            boolean readsFirst = (store.ordinal() + round) % 2 == 1;
            Burst reads = readsFirst ? reads(sample) : null;
            Burst joins = joins(sample);
            reads = readsFirst ? reads : reads(sample);
            Thread.sleep(PAUSE.toMillis());
            Burst laterJoins = joins(sample);
            Burst laterReads = reads(sample);
            log.info(
                    "{}: {} then {} of {} joins, {} then {} of {} reads; decided locally: {}",
                    store,
                    joins.admitted(),
                    laterJoins.admitted(),
                    REQUESTS,
                    reads.admitted(),
                    laterReads.admitted(),
                    REQUESTS,
                    decidedLocally(sample));

            assertThat(busy.areAllBusy()).isTrue();
            assertThat(joins.admitted()).as("joins, %s", joins).isEqualTo(JOINS);
            assertThat(laterJoins.admitted()).as("joins, %s", laterJoins).isZero();
            // A token comes each second, the first of them a second after the first request.
            long whileReading = ceiling(reads.answeredAt() - reads.sentAt());
            long between =
                    Duration.ofNanos(laterReads.sentAt() - reads.answeredAt()).toSeconds();
            long inAll = ceiling(laterReads.answeredAt() - reads.sentAt());
            assertThat(reads.admitted()).as("reads, %s", reads).isBetween((long) READS, READS + whileReading);
            assertThat(laterReads.admitted())
                    .as("reads, %s", laterReads)
                    .isGreaterThanOrEqualTo(Math.min(between, READS));
            assertThat(reads.admitted() + laterReads.admitted()).as("reads").isLessThanOrEqualTo(READS + inAll);
            for (Burst burst : new Burst[] {joins, laterJoins, reads, laterReads}) {
                assertThat(burst.admitted() + burst.denied()).as("%s", burst).isEqualTo(REQUESTS);
            }
        }
    }

    private static long ceiling(long nanos) {
        return Duration.ofNanos(nanos).toSeconds() + 1;
    }

    private static Burst joins(ChildJvm sample) {
        return Burst.of(REQUESTS, sample.port(), "POST /api/campaigns/1/join HTTP/1.1", "Content-Length: 0");
    }

    private static Burst reads(ChildJvm sample) {
        return Burst.of(REQUESTS, sample.port(), "GET /api/campaigns HTTP/1.1");
    }

    private static String decidedLocally(ChildJvm sample) throws IOException {
        return new Client(sample.port())
                .get("/actuator/prometheus", null)
                .body()
                .lines()
                .filter(line -> line.startsWith("ratelimit_store_errors_total"))
                .toList()
                .toString();
    }
}
