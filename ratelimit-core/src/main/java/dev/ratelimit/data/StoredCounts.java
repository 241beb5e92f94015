package dev.ratelimit.data;

import dev.ratelimit.Subject;
import dev.ratelimit.admin.PenaltyAdmin.Penalty;
import dev.ratelimit.admin.SubjectAdmin;
import dev.ratelimit.admin.SubjectAdmin.StoredState;
import dev.ratelimit.data.table.PenaltyRow;
import dev.ratelimit.support.Micros;
import java.time.InstantSource;
import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/** Reads the counts and penalties that the store has written, for administration. Thread-safe. */
final class StoredCounts {

    private final List<PolicyDatabase> databases;
    private final InstantSource clock;

    /**
     * @param databases those of the store: several if it has shards, none if it has no tables
     */
    StoredCounts(List<PolicyDatabase> databases, InstantSource clock) {
        this.databases = List.copyOf(databases);
        this.clock = clock;
    }

    boolean areListed() {
        return !databases.isEmpty();
    }

    private List<PolicyDatabase> tables() {
        if (databases.isEmpty()) {
            throw new IllegalStateException(SubjectAdmin.NOT_LISTED);
        }
        return databases;
    }

    List<Penalty> penalties(int most) {
        long now = now();
        return tables().stream()
                .flatMap(tables -> tables.penalties().findEndingAfter(now, most).stream())
                .map(PenaltyRow::penalty)
                .sorted(Comparator.comparing(Penalty::until).reversed())
                .limit(most)
                .toList();
    }

    Map<String, Long> activePenalties() {
        long now = now();
        Map<String, Long> all = new HashMap<>();
        for (PolicyDatabase tables : databases) {
            tables.penalties().countEndingAfter(now).forEach((limit, count) -> all.merge(limit, count, Long::sum));
        }
        return all;
    }

    List<String> subjects(String prefix, int most) {
        return tables().stream()
                .flatMap(tables -> tables.states().findSubjects(prefix, most).stream())
                .distinct()
                .sorted()
                .limit(most)
                .toList();
    }

    List<StoredState> states(Subject subject, int most) {
        long now = now();
        return databases.stream()
                .flatMap(tables -> tables.states().find(subject.text(), now, most).stream())
                .limit(most)
                .toList();
    }

    private long now() {
        return Micros.of(clock.instant());
    }
}
