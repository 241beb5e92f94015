package dev.ratelimit.admin;

import dev.ratelimit.RateLimiter;
import dev.ratelimit.admin.version.Change;
import dev.ratelimit.caller.ApiKey;
import dev.ratelimit.caller.Caller;
import dev.ratelimit.support.LogText;
import java.time.Instant;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** Creates, lists and revokes API keys. */
public final class ApiKeyAdmin {

    /**
     * A new API key. Its secret is shown only here.
     *
     * @param id identifies the key from now on
     * @param secret the whole key, as the client has to send it; it is stored nowhere
     */
    public record IssuedKey(String id, String secret) {

        /** Leaves out the secret, which would end in a log. */
        @Override
        public String toString() {
            return "IssuedKey[id=" + id + "]";
        }
    }

    private static final Logger log = LoggerFactory.getLogger(ApiKeyAdmin.class);

    private final PolicyStorage storage;
    private final RateLimiter limiter;

    ApiKeyAdmin(PolicyStorage storage, RateLimiter limiter) {
        this.storage = storage;
        this.limiter = limiter;
    }

    /** Creates a key. The result is the only copy of its secret: give it to the owner, and do not keep it. */
    public IssuedKey create(NewApiKey key, Change change) {
        change.requireNoExpiry("the change of the API key '" + key.name() + "'");
        Instant expiresAt = key.expiresAt();
        if (expiresAt != null && !expiresAt.isAfter(storage.clock().instant())) {
            throw new IllegalArgumentException(
                    "the API key '" + key.name() + "' expires at " + expiresAt + "; write a moment in the future");
        }
        QuotaAdmin.requireTier(key.tier(), storage.current());
        QuotaAdmin.requireValid(key.quota());
        IssuedKey issued = storage.change(transaction -> {
            IssuedKey added = transaction.addKey(key, change.by());
            transaction.log(
                    new ChangeLog.Target("create", ChangeLog.Kind.API_KEY, added.id()),
                    change,
                    null,
                    ChangeLog.json(key));
            return added;
        });
        log.info(
                "Created API key {} ({}) of {}, by {}",
                LogText.of(issued.id()),
                LogText.of(key.name()),
                LogText.of(key.owner()),
                LogText.of(change.by()));
        return issued;
    }

    /** All keys, including revoked and expired ones, the oldest first. */
    public List<ApiKeyInfo> list() {
        return storage.keyInfos();
    }

    /** All keys of a user, the oldest first. */
    public List<ApiKeyInfo> list(String owner) {
        return storage.keyInfos(owner);
    }

    public Optional<ApiKeyInfo> find(String id) {
        return storage.keyInfo(id);
    }

    /**
     * Revokes a key for good. A key that is revoked already stays as it is.
     *
     * @throws IllegalArgumentException if there is no such key
     */
    public void revoke(String id, Change change) {
        change.requireNoExpiry("the revocation of an API key");
        storage.run(transaction -> {
            if (!transaction.revokeKey(id, change.by())) {
                throw unknown(id);
            }
            transaction.log(new ChangeLog.Target("revoke", ChangeLog.Kind.API_KEY, id), change, null, null);
        });
        log.info("Revoked API key {}, by {}", LogText.of(id), LogText.of(change.by()));
    }

    private static IllegalArgumentException unknown(String id) {
        return new IllegalArgumentException("there is no API key with the id '" + id + "'");
    }

    /** The key's usage of its own quota, or of its owner's if it has none. */
    public Usage usage(String id) {
        ApiKey key = storage.keyInfo(id).orElseThrow(() -> unknown(id)).key();
        Caller caller = storage.current().tiers().caller(null, Set.of(), key, storage.accounts());
        return QuotaUsage.of(caller, limiter);
    }
}
