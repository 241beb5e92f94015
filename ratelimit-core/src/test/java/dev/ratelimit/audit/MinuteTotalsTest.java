package dev.ratelimit.audit;

import static org.assertj.core.api.Assertions.assertThat;

import dev.ratelimit.audit.report.AuditDecision;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import org.assertj.core.groups.Tuple;
import org.junit.jupiter.api.RepeatedTest;
import org.junit.jupiter.api.Test;

class MinuteTotalsTest {

    /** Rows are set by their key, as in the database. */
    @RepeatedTest(200)
    void writtenRowsCountEveryRequestOnce() {
        long seed = new Random().nextLong();
        Random random = new Random(seed);
        int busiest = random.nextInt(4);
        MinuteTotals totals = new MinuteTotals(0);
        Map<TotalsKey, Tally> stored = new HashMap<>();
        long requests = 0;
        for (int write = 0; write < 20; write++) {
            for (int i = random.nextInt(5); i > 0; i--) {
                TotalsKey key = new TotalsKey("api", "user:" + random.nextInt(6), "/" + random.nextInt(2));
                totals.add(key, random.nextInt(3) == 0 ? AuditDecision.THROTTLED : AuditDecision.ALLOWED, ++requests);
            }
            if (random.nextInt(4) == 0) {
                totals.keepRowsOnly(busiest);
            }
            List<TotalsRow> changed = totals.changedRows(busiest, "", "one");
            totals.markSent(changed);
            boolean answered = random.nextInt(3) > 0;
            if (answered || random.nextBoolean()) {
                changed.forEach(row -> stored.put(row.key(), row.tally()));
                if (answered) {
                    totals.markWritten(changed);
                }
                assertThat(stored.values().stream().mapToLong(Tally::total).sum())
                        .as("after write %d with busiest %d and seed %d", write, busiest, seed)
                        .isEqualTo(requests);
            }
        }
    }

    @Test
    void sharedRowIsZeroedThoughTheAnswerToItsWriteWasLost() {
        MinuteTotals totals = new MinuteTotals(0);
        TotalsKey alice = new TotalsKey("api", "user:alice", "/e");
        for (int i = 0; i < 5; i++) {
            totals.add(alice, AuditDecision.ALLOWED, 1);
        }
        List<TotalsRow> sent = totals.changedRows(0, "", "one");
        totals.markSent(sent);
        totals.add(alice, AuditDecision.THROTTLED, 2);

        assertThat(totals.changedRows(0, "", "one"))
                .extracting(TotalsRow::key, row -> row.tally().total())
                .containsExactlyInAnyOrder(Tuple.tuple(alice, 6L), Tuple.tuple(alice.ofOthers(), 0L));
    }

    /** As many as wait for the database during an outage of an hour. */
    @Test
    void finishedMinutesWithManyEndpointsTakeLittleMemory() {
        long before = usedMemory();
        List<MinuteTotals> minutes = new ArrayList<>();
        for (int minute = 0; minute < 60; minute++) {
            MinuteTotals totals = new MinuteTotals(minute);
            for (int endpoint = 0; endpoint < 200; endpoint++) {
                totals.add(new TotalsKey("", "", "/endpoint/" + endpoint), AuditDecision.ALLOWED, 1);
                for (int request = 1; request <= 50; request++) {
                    totals.addLatency("/endpoint/" + endpoint, request * 100L);
                }
            }
            totals.keepRowsOnly(10);
            minutes.add(totals);
        }
        long megabytes = (usedMemory() - before) >> 20;

        assertThat(megabytes).as("megabytes of %d minutes", minutes.size()).isLessThan(40);
    }

    private static long usedMemory() {
        System.gc();
        return Runtime.getRuntime().totalMemory() - Runtime.getRuntime().freeMemory();
    }

    @Test
    void finishedMinuteStillTakesLatencies() {
        MinuteTotals totals = new MinuteTotals(0);
        MinuteTotals late = new MinuteTotals(0);
        for (MinuteTotals part : List.of(totals, late)) {
            part.add(new TotalsKey("", "", "/e"), AuditDecision.ALLOWED, 1);
            part.addLatency("/e", 250);
        }
        totals.keepRowsOnly(10);
        totals.add(late);
        totals.addLatency("/e", 9_000);
        totals.keepRowsOnly(10);

        Latencies stored = Latencies.ofPeriod();
        stored.add(totals.changedRows(10, "", "one").get(0).latency().stored());
        assertThat(stored.percentiles().p50().toNanos()).isBetween(240_000L, 260_000L);
        assertThat(stored.percentiles().p99().toNanos()).isBetween(8_900_000L, 9_100_000L);
    }
}
