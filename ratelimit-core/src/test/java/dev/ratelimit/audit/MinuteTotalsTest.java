package dev.ratelimit.audit;

import static org.assertj.core.api.Assertions.assertThat;

import dev.ratelimit.audit.report.AuditDecision;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import org.junit.jupiter.api.RepeatedTest;

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
            if (random.nextInt(3) > 0) {
                changed.forEach(row -> stored.put(row.key(), row.tally()));
                totals.markWritten(changed);
                assertThat(stored.values().stream().mapToLong(Tally::total).sum())
                        .as("after write %d with busiest %d and seed %d", write, busiest, seed)
                        .isEqualTo(requests);
            }
        }
    }
}
