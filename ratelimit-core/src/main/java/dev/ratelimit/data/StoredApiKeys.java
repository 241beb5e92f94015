package dev.ratelimit.data;

import dev.ratelimit.admin.ApiKeyInfo;
import dev.ratelimit.admin.version.Problem;
import dev.ratelimit.caller.ApiKey;
import dev.ratelimit.caller.ApiKeys;
import dev.ratelimit.caller.Quota;
import dev.ratelimit.data.table.ApiKeyRow;
import dev.ratelimit.setting.InvalidLimitException;
import dev.ratelimit.support.Micros;
import java.security.MessageDigest;
import java.time.InstantSource;
import java.util.Collection;
import java.util.HashSet;
import java.util.HexFormat;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import org.jspecify.annotations.Nullable;

/**
 * Caches the rows of {@code api_keys} that are not revoked, by their hash. Uses are counted here and written in batches:
 * no request waits for a write.
 */
final class StoredApiKeys implements ApiKeys {

    private final PolicyDatabase database;
    private final InstantSource clock;
    private final Map<String, CachedKey> byHash = new ConcurrentHashMap<>();
    private final Map<String, CachedKey> byId = new ConcurrentHashMap<>();
    private final Uses uses = new Uses();
    private final Map<String, Problem> problems = new ConcurrentHashMap<>();

    private static final class CachedKey {
        private final ApiKey key;
        private final String hashText;
        private final byte[] hash;
        private final long expiresAt;
        private final Uses.Use use;

        private CachedKey(ApiKey key, String hashText, byte[] hash, long expiresAt, Uses.Use use) {
            this.key = key;
            this.hashText = hashText;
            this.hash = hash;
            this.expiresAt = expiresAt;
            this.use = use;
        }
    }

    StoredApiKeys(PolicyDatabase database, InstantSource clock) {
        this.database = database;
        this.clock = clock;
    }

    @Override
    public @Nullable ApiKey recognise(String secret) {
        if (!ApiKeySecret.canBeKey(secret)) {
            return null;
        }
        byte[] hash = ApiKeySecret.hash(secret);
        CachedKey cached = byHash.get(HexFormat.of().formatHex(hash));
        // The map compares hashes, whose first bytes no one can choose; this compares in constant time.
        if (cached == null || !MessageDigest.isEqual(cached.hash, hash)) {
            return null;
        }
        long now = Micros.of(clock.instant());
        if (cached.expiresAt != 0 && cached.expiresAt <= now) {
            return null;
        }
        cached.use.add(1, now);
        return cached.key;
    }

    /** Finds a key by its id. If it is unknown, revoked or expired, returns {@code null}. */
    @Nullable
    ApiKey find(String id) {
        CachedKey cached = byId.get(id);
        boolean expired = cached != null && cached.expiresAt != 0 && cached.expiresAt <= Micros.of(clock.instant());
        return cached == null || expired ? null : cached.key;
    }

    void readAll() {
        Set<String> gone = new HashSet<>(byId.keySet());
        gone.addAll(problems.keySet());
        replace(gone, database.keys().findNotRevoked());
    }

    void read(Collection<String> ids) {
        replace(new HashSet<>(ids), database.keys().find(ids));
    }

    private void replace(Set<String> gone, List<ApiKeyRow> rows) {
        for (ApiKeyRow row : rows) {
            if (!row.life().isRevoked()) {
                put(row);
                gone.remove(row.id());
            }
        }
        gone.forEach(id -> {
            remove(id);
            problems.remove(id);
        });
    }

    private void put(ApiKeyRow row) {
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
        ApiKey key = apiKey(row);
        CachedKey cached = new CachedKey(key, row.keyHash(), hash, row.life().expiresAt(), uses.of(row.id()));
        byHash.put(cached.hashText, cached);
        CachedKey before = byId.put(row.id(), cached);
        if (before != null && !before.hashText.equals(cached.hashText)) {
            byHash.remove(before.hashText);
        }
    }

    /** If the quota is invalid, the last valid one applies. */
    private ApiKey apiKey(ApiKeyRow row) {
        try {
            Quota unused = row.quota().quota();
        } catch (InvalidLimitException e) {
            problems.put(row.id(), new Problem("api_keys", row.id(), null, String.valueOf(e.getMessage())));
        }
        CachedKey before = byId.get(row.id());
        return row.apiKey(before == null ? Quota.NONE : before.key.quota());
    }

    private void remove(String id) {
        CachedKey cached = byId.remove(id);
        if (cached != null) {
            byHash.remove(cached.hashText);
        }
    }

    /** Writes the uses that were counted. If that fails, they are kept for the next time. */
    void writeUses() {
        uses.write(database, database.keys()::addUse);
    }

    /** All keys as they are in the database, with all uses of this instance. */
    List<ApiKeyInfo> infos() {
        writeUses();
        return database.keys().findAll().stream().map(ApiKeyRow::info).toList();
    }

    /** The same, of one user. */
    List<ApiKeyInfo> infos(String owner) {
        writeUses();
        return database.keys().findByOwner(owner).stream().map(ApiKeyRow::info).toList();
    }

    Optional<ApiKeyInfo> info(String id) {
        writeUses();
        return database.keys().find(id).map(ApiKeyRow::info);
    }

    Collection<Problem> problems() {
        return problems.values();
    }
}
