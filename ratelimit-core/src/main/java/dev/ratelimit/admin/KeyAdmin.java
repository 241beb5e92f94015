package dev.ratelimit.admin;

import dev.ratelimit.Micros;
import dev.ratelimit.RateLimiter;
import dev.ratelimit.Subject;
import dev.ratelimit.data.KeyRow;
import dev.ratelimit.data.KeySecret;
import dev.ratelimit.data.StoredKeys;
import dev.ratelimit.data.StoredPolicies;
import dev.ratelimit.data.StoredQuota;
import dev.ratelimit.policy.ApiKey;
import dev.ratelimit.policy.Caller;
import dev.ratelimit.policy.Quota;
import java.time.Instant;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** Makes, lists and revokes API keys. */
public final class KeyAdmin {

    private static final Logger log = LoggerFactory.getLogger(KeyAdmin.class);

    private final StoredPolicies policies;
    private final Writes writes;
    private final RateLimiter limiter;

    KeyAdmin(StoredPolicies policies, Writes writes, RateLimiter limiter) {
        this.policies = policies;
        this.writes = writes;
        this.limiter = limiter;
    }

    /** Makes a key. What is returned is the only copy of its secret: give it to the owner, and keep it nowhere. */
    public IssuedKey create(NewKey key, String by) {
        Instant expiresAt = key.expiresAt();
        if (expiresAt != null && !expiresAt.isAfter(policies.clock().instant())) {
            throw new IllegalArgumentException(
                    "the API key '" + key.name() + "' expires at " + expiresAt + "; write a moment in the future");
        }
        writes.requireTier(key.tier());
        IssuedKey issued = KeySecret.generate();
        Quota quota = StoredQuota.require(key.quota());
        writes.change(() -> policies.database()
                .rows()
                .insert(new KeyRow(
                        issued.id(),
                        KeySecret.hashText(issued.secret()),
                        key.name(),
                        key.owner(),
                        key.tier(),
                        quota.perSecond(),
                        quota.perHour(),
                        quota.perDay(),
                        quota.perMonth(),
                        quota.burst(),
                        StoredQuota.text(quota.zone()),
                        Change.by(by).by(),
                        writes.now(),
                        expiresAt == null ? 0 : Micros.of(expiresAt),
                        0,
                        null,
                        0,
                        0)));
        log.info("The API key {} ({}) of {} is made by {}", issued.id(), key.name(), key.owner(), by);
        return issued;
    }

    /** All keys, those that are revoked or expired included, the oldest first. */
    public List<KeyInfo> list() {
        policies.keys().writeUses();
        return policies.database().keys().findAllByOrderByCreatedAtAscIdAsc().stream()
                .map(KeyInfo::of)
                .toList();
    }

    /** All keys of a user, the oldest first. */
    public List<KeyInfo> list(String owner) {
        policies.keys().writeUses();
        return policies.database().keys().findByUserIdOrderByCreatedAtAscIdAsc(owner).stream()
                .map(KeyInfo::of)
                .toList();
    }

    public Optional<KeyInfo> find(String id) {
        policies.keys().writeUses();
        return policies.database().keys().findById(id).map(KeyInfo::of);
    }

    /**
     * Lets a key no longer be recognised, for ever. One that was revoked before stays as it is.
     *
     * @throws IllegalArgumentException if there is no such key
     */
    public void revoke(String id, String by) {
        writes.change(() -> {
            KeyRow row = row(id);
            if (row.revokedAt() == 0) {
                policies.database()
                        .keys()
                        .revoke(id, writes.now(), Change.by(by).by());
            }
        });
        log.info("The API key {} is revoked by {}", id, by);
    }

    private KeyRow row(String id) {
        return policies.database()
                .keys()
                .findById(id)
                .orElseThrow(() -> new IllegalArgumentException("there is no API key with the id '" + id + "'"));
    }

    /** What was used of the quota of the key, or of its owner's if it has none of its own. */
    public Usage usage(String id) {
        ApiKey key = StoredKeys.key(row(id));
        Caller caller = policies.current().tiers().caller(null, Set.of(), key, policies.accounts());
        return QuotaUsage.of(caller, caller.quotaOfApiKey() ? key.subject() : Subject.user(key.owner()), limiter);
    }
}
