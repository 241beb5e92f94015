package dev.ratelimit.data;

import dev.ratelimit.Subject;
import dev.ratelimit.admin.PenaltyAdmin.Penalty;
import dev.ratelimit.admin.SubjectAdmin;
import dev.ratelimit.admin.SubjectAdmin.StoredState;
import dev.ratelimit.data.table.PenaltyRow;
import dev.ratelimit.support.Micros;
import java.time.InstantSource;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/** Reads the counts and penalties that the store has written, for administration. Thread-safe. */
final class StoredCounts {

    private final @Nullable PolicyDatabase database;
    private final InstantSource clock;

    /**
     * @param database the one of the store; {@code null} if the store has no tables
     */
    StoredCounts(@Nullable PolicyDatabase database, InstantSource clock) {
        this.database = database;
        this.clock = clock;
    }

    boolean areListed() {
        return database != null;
    }

    private PolicyDatabase tables() {
        if (database == null) {
            throw new IllegalStateException(SubjectAdmin.NOT_LISTED);
        }
        return database;
    }

    List<Penalty> penalties(int most) {
        return tables().penalties().findEndingAfter(now(), most).stream()
                .map(PenaltyRow::penalty)
                .toList();
    }

    Map<String, Long> activePenalties() {
        return database == null ? Map.of() : database.penalties().countEndingAfter(now());
    }

    List<String> subjects(String prefix, int most) {
        return tables().states().findSubjects(prefix, most);
    }

    List<StoredState> states(Subject subject, int most) {
        return database == null ? List.of() : database.states().find(subject.text(), now(), most);
    }

    private long now() {
        return Micros.of(clock.instant());
    }
}
