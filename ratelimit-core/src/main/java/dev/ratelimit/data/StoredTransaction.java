package dev.ratelimit.data;

import dev.ratelimit.Subject;
import dev.ratelimit.admin.ApiKeyAdmin.IssuedKey;
import dev.ratelimit.admin.ChangeLog.Target;
import dev.ratelimit.admin.NewApiKey;
import dev.ratelimit.admin.PolicyStorage;
import dev.ratelimit.admin.SubjectAdmin;
import dev.ratelimit.admin.version.Change;
import dev.ratelimit.admin.version.Version;
import dev.ratelimit.caller.Quota;
import dev.ratelimit.data.table.ApiKeyRow;
import dev.ratelimit.data.table.ChangeRow;
import dev.ratelimit.data.table.LimitRow;
import dev.ratelimit.data.table.QuotaRow;
import dev.ratelimit.data.table.StoredRule;
import dev.ratelimit.policy.Rule;
import dev.ratelimit.support.Micros;
import java.time.Instant;
import java.time.InstantSource;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.function.UnaryOperator;
import org.jspecify.annotations.Nullable;

/** Writes rows, within {@link PolicyDatabase#change}. Triggers add them to the change feed; without triggers, they are added here. */
final class StoredTransaction implements PolicyStorage.Transaction {

    private final PolicyDatabase database;
    private final List<PolicyDatabase> counting;
    private final InstantSource clock;

    /**
     * @param counting the databases with counts and penalties; none if they are in no database
     */
    StoredTransaction(PolicyDatabase database, List<PolicyDatabase> counting, InstantSource clock) {
        this.database = database;
        this.counting = List.copyOf(counting);
        this.clock = clock;
    }

    @Override
    public Version<Map<String, String>> addLimit(Version<Map<String, String>> version) {
        Version<Map<String, String>> added =
                database.limits().insert(LimitRow.of(version)).toVersion();
        database.changed(ChangeRow.LIMIT, added.name());
        return added;
    }

    @Override
    public Version<Rule> addRule(Version<Rule> version) {
        Version<Rule> added = StoredRule.version(database.rules().insert(StoredRule.row(version)));
        database.changed(ChangeRow.RULE, added.name());
        return added;
    }

    @Override
    public void setQuota(String user, @Nullable String tier, Quota quota, String by) {
        changeUser(user, by, row -> row.withQuota(tier, quota));
    }

    @Override
    public void setBlock(String user, @Nullable Instant until, @Nullable String reason, String by) {
        changeUser(user, by, row -> row.withBlock(until, reason));
    }

    /** Deletes the row if nothing remains in it. */
    private void changeUser(String user, String by, UnaryOperator<QuotaRow> change) {
        Optional<QuotaRow> before = database.quotas().find(user);
        QuotaRow row = change.apply(before.orElseGet(() -> QuotaRow.of(user))).changed(by, clock.instant());
        if (row.isEmpty()) {
            database.quotas().delete(user);
        } else if (before.isPresent()) {
            database.quotas().update(row);
        } else {
            database.quotas().insert(row);
        }
        database.changed(ChangeRow.QUOTA, user);
    }

    @Override
    public IssuedKey addKey(NewApiKey key, String by) {
        IssuedKey issued = ApiKeySecret.generate();
        database.keys()
                .insert(ApiKeyRow.of(issued.id(), ApiKeySecret.hashText(issued.secret()), key, by, clock.instant()));
        database.changed(ChangeRow.KEY, issued.id());
        return issued;
    }

    @Override
    public boolean revokeKey(String id, String by) {
        Optional<ApiKeyRow> row = database.keys().find(id);
        if (row.isPresent() && !row.get().life().isRevoked()) {
            database.keys().revoke(id, Micros.of(clock.instant()), by);
            database.changed(ChangeRow.KEY, id);
        }
        return row.isPresent();
    }

    @Override
    public void log(Target target, Change change, @Nullable String before, @Nullable String after) {
        database.log().add(clock.instant(), target, change, before, after);
    }

    @Override
    public void announceReset(Subject subject) {
        database.announce(ChangeRow.RESET, subject.text());
    }

    @Override
    public boolean removeStates(List<PolicyStorage.StateName> states) {
        if (counting.size() != 1 || counting.get(0) != database) {
            return false;
        }
        database.states().delete(states);
        return true;
    }

    @Override
    public boolean notePenalty(Subject subject, String limit, String metadata) {
        if (counting.isEmpty()) {
            throw new IllegalStateException(SubjectAdmin.NOT_LISTED);
        }
        boolean noted = false;
        for (PolicyDatabase tables : counting) {
            noted |= tables.penalties().note(subject.text(), limit, metadata);
        }
        return noted;
    }
}
