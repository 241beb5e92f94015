package dev.ratelimit.data;

import dev.ratelimit.InvalidLimitException;
import dev.ratelimit.Micros;
import dev.ratelimit.admin.Problem;
import dev.ratelimit.policy.ApiKey;
import dev.ratelimit.policy.ApiKeys;
import dev.ratelimit.policy.Quota;
import java.security.MessageDigest;
import java.time.InstantSource;
import java.util.Collection;
import java.util.HashSet;
import java.util.HexFormat;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.atomic.LongAdder;
import org.jspecify.annotations.Nullable;

/**
 * The rows of {@code api_keys} that are not revoked, in memory by their hash. Uses are counted here and written now and
 * then, many together: no request waits for a write.
 */
public final class StoredKeys implements ApiKeys {

    private static final int KEYS_IN_ONE_TRANSACTION = 200;

    private final PolicyDatabase database;
    private final InstantSource clock;
    private final Map<String, Known> byHash = new ConcurrentHashMap<>();
    private final Map<String, Known> byId = new ConcurrentHashMap<>();
    private final Map<String, Use> uses = new ConcurrentHashMap<>();
    private final Map<String, Problem> problems = new ConcurrentHashMap<>();

    private static final class Known {
        private final ApiKey key;
        private final String hashText;
        private final byte[] hash;
        private final long expiresAt;
        private final Use use;

        private Known(ApiKey key, String hashText, byte[] hash, long expiresAt, Use use) {
            this.key = key;
            this.hashText = hashText;
            this.hash = hash;
            this.expiresAt = expiresAt;
            this.use = use;
        }
    }

    /** The uses that were not written yet. */
    private static final class Use {
        private final LongAdder requests = new LongAdder();
        private final AtomicLong lastAt = new AtomicLong();
    }

    StoredKeys(PolicyDatabase database, InstantSource clock) {
        this.database = database;
        this.clock = clock;
    }

    @Override
    public @Nullable ApiKey recognise(String secret) {
        if (!KeySecret.canBeKey(secret)) {
            return null;
        }
        byte[] hash = KeySecret.hash(secret);
        Known known = byHash.get(HexFormat.of().formatHex(hash));
        // The map has compared hashes, of which nobody can choose the first bytes; this compares in constant time.
        if (known == null || !MessageDigest.isEqual(known.hash, hash)) {
            return null;
        }
        long now = Micros.of(clock.instant());
        if (known.expiresAt != 0 && known.expiresAt <= now) {
            return null;
        }
        known.use.requests.increment();
        if (known.use.lastAt.get() < now) {
            known.use.lastAt.accumulateAndGet(now, Math::max);
        }
        return known.key;
    }

    /** The key of that id, if it is neither revoked nor expired. */
    @Nullable
    public ApiKey find(String id) {
        Known known = byId.get(id);
        boolean expired = known != null && known.expiresAt != 0 && known.expiresAt <= Micros.of(clock.instant());
        return known == null || expired ? null : known.key;
    }

    public void readAll() {
        Set<String> gone = new HashSet<>(byId.keySet());
        gone.addAll(problems.keySet());
        replace(gone, database.keys().findByRevokedAt(0));
    }

    public void read(Collection<String> ids) {
        replace(new HashSet<>(ids), database.keys().findByIdIn(ids));
    }

    private void replace(Set<String> gone, List<KeyRow> rows) {
        for (KeyRow row : rows) {
            if (row.revokedAt() == 0) {
                put(row);
                gone.remove(row.id());
            }
        }
        gone.forEach(id -> {
            remove(id);
            problems.remove(id);
        });
    }

    private void put(KeyRow row) {
        byte[] hash;
        try {
            hash = HexFormat.of().parseHex(row.keyHash());
        } catch (IllegalArgumentException e) {
            problems.put(
                    row.id(),
                    new Problem("api_keys", row.id(), null, "key_hash is no SHA-256; write 64 hexadecimal digits"));
            remove(row.id());
            return;
        }
        problems.remove(row.id());
        ApiKey key = new ApiKey(row.id(), row.name(), row.userId(), row.tier(), quota(row));
        Known known =
                new Known(key, row.keyHash(), hash, row.expiresAt(), uses.computeIfAbsent(row.id(), id -> new Use()));
        byHash.put(known.hashText, known);
        Known before = byId.put(row.id(), known);
        if (before != null && !before.hashText.equals(known.hashText)) {
            byHash.remove(before.hashText);
        }
    }

    private Quota quota(KeyRow row) {
        try {
            return StoredQuota.read(row);
        } catch (InvalidLimitException e) {
            problems.put(row.id(), new Problem("api_keys", row.id(), null, String.valueOf(e.getMessage())));
            Known before = byId.get(row.id());
            return before == null ? Quota.NONE : before.key.quota();
        }
    }

    /** The key of a row; without a quota of its own, if that cannot be right. */
    public static ApiKey key(KeyRow row) {
        return new ApiKey(row.id(), row.name(), row.userId(), row.tier(), StoredQuota.readOr(row, Quota.NONE));
    }

    private void remove(String id) {
        Known known = byId.remove(id);
        if (known != null) {
            byHash.remove(known.hashText);
        }
    }

    /** Writes what was counted. What cannot be written is counted on. */
    public void writeUses() {
        Map<String, Long> counted = new TreeMap<>(); // in order, so that instances that write at once never deadlock
        uses.forEach((id, use) -> {
            long requests = use.requests.sumThenReset();
            if (requests > 0) {
                counted.put(id, requests);
            }
        });
        try {
            while (!counted.isEmpty()) {
                List<String> ids =
                        counted.keySet().stream().limit(KEYS_IN_ONE_TRANSACTION).toList();
                database.inTransaction(() -> {
                    for (String id : ids) {
                        long requests = counted.getOrDefault(id, 0L);
                        database.keys().addUse(id, requests, use(id).lastAt.get());
                    }
                });
                ids.forEach(counted::remove);
            }
        } finally {
            counted.forEach((id, requests) -> use(id).requests.add(requests));
        }
    }

    private Use use(String id) {
        return uses.computeIfAbsent(id, unknown -> new Use());
    }

    public Collection<Problem> problems() {
        return problems.values();
    }
}
