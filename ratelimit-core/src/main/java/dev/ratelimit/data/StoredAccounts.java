package dev.ratelimit.data;

import dev.ratelimit.LimitDecision;
import dev.ratelimit.RequestRecord;
import dev.ratelimit.admin.QuotaAdmin.UserQuota;
import dev.ratelimit.admin.version.Problem;
import dev.ratelimit.caller.Account;
import dev.ratelimit.caller.Accounts;
import dev.ratelimit.caller.Quota;
import dev.ratelimit.data.table.QuotaRow;
import dev.ratelimit.setting.InvalidLimitException;
import dev.ratelimit.support.Micros;
import java.util.Collection;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import org.jspecify.annotations.Nullable;

/**
 * Caches the rows of {@code user_quotas}. Requests of these users are counted here and written in batches: no request waits
 * for a write.
 */
final class StoredAccounts implements Accounts {

    private final PolicyDatabase database;
    private final Map<String, Account> byUser = new ConcurrentHashMap<>();
    private final Map<String, Problem> problems = new ConcurrentHashMap<>();
    private final Uses uses = new Uses();
    private final ChangeNews news;

    StoredAccounts(PolicyDatabase database, ChangeNews news) {
        this.database = database;
        this.news = news;
    }

    @Override
    public @Nullable Account find(String user) {
        return byUser.get(user);
    }

    /** Notes the request of a user, and whether it exceeded the quota. */
    void recorded(RequestRecord request) {
        RequestRecord.Exchange exchange = request.exchange();
        String user = exchange == null ? null : exchange.user();
        if (user != null && byUser.containsKey(user)) {
            uses.of(user).add(exceedsQuota(request) ? 1 : 0, Micros.of(request.at()));
        }
    }

    private static boolean exceedsQuota(RequestRecord request) {
        for (RequestRecord.Asked asked : request.asked()) {
            for (LimitDecision limit : asked.decision().limits()) {
                if (!limit.allowed() && Quota.isPart(limit.limit().name())) {
                    return true;
                }
            }
        }
        return false;
    }

    /** Writes the requests that were noted. If that fails, they are kept for the next time. */
    void writeUses() {
        uses.write(database, database.quotas()::addUse);
    }

    void readAll() {
        Set<String> gone = new HashSet<>(byUser.keySet());
        for (QuotaRow row : database.quotas().findAll()) {
            put(row);
            gone.remove(row.userId());
        }
        gone.forEach(this::remove);
    }

    void read(Collection<String> users) {
        Set<String> gone = new HashSet<>(users);
        for (QuotaRow row : database.quotas().find(users)) {
            put(row);
            gone.remove(row.userId());
        }
        gone.forEach(this::remove);
    }

    private void put(QuotaRow row) {
        Account now = account(row);
        Account before = byUser.put(row.userId(), now);
        news.compared(row.userId(), before, now);
    }

    private void remove(String user) {
        Account before = byUser.remove(user);
        problems.remove(user);
        news.compared(user, before, null);
    }

    /** If the quota is invalid, the tier and the block apply nonetheless, with the last valid quota. */
    private Account account(QuotaRow row) {
        Account before = byUser.get(row.userId());
        try {
            Quota unused = row.quota().quota();
            problems.remove(row.userId());
        } catch (InvalidLimitException e) {
            problems.put(row.userId(), new Problem("user_quotas", row.userId(), null, String.valueOf(e.getMessage())));
        }
        return row.account(before == null ? Quota.NONE : before.quota());
    }

    /** The rows as they are in the database, with all requests of this instance. */
    List<UserQuota> userQuotas() {
        writeUses();
        return database.quotas().findAll().stream().map(QuotaRow::userQuota).toList();
    }

    Optional<UserQuota> userQuota(String user) {
        writeUses();
        return database.quotas().find(user).map(QuotaRow::userQuota);
    }

    Collection<Problem> problems() {
        return problems.values();
    }
}
