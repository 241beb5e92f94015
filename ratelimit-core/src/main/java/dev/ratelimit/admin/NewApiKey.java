package dev.ratelimit.admin;

import dev.ratelimit.caller.Quota;
import java.time.Instant;
import org.jspecify.annotations.Nullable;

/**
 * An API key to create.
 *
 * <pre>{@code
 * admin.keys().create(NewApiKey.of("build server", "alice").tier("premium"), Change.by("ops")).secret()
 * }</pre>
 *
 * @param name a name for its owner
 * @param owner the user it belongs to
 * @param tier its tier, or {@code null} for that of its owner
 * @param quota its own quota; {@link Quota#NONE} to share that of its owner
 * @param expiresAt when requests with it are no longer accepted, or {@code null}
 */
public record NewApiKey(
        String name,
        String owner,
        @Nullable String tier,
        Quota quota,
        @Nullable Instant expiresAt) {

    public NewApiKey {
        if (name.isBlank()) {
            throw new IllegalArgumentException("the name of the API key is empty; describe its purpose");
        }
        owner = QuotaAdmin.nameOf("owner of the API key", owner);
    }

    public static NewApiKey of(String name, String owner) {
        return new NewApiKey(name, owner, null, Quota.NONE, null);
    }

    public NewApiKey tier(String name) {
        return new NewApiKey(this.name, owner, name, quota, expiresAt);
    }

    public NewApiKey quota(Quota own) {
        return new NewApiKey(name, owner, tier, own, expiresAt);
    }

    public NewApiKey expires(Instant moment) {
        return new NewApiKey(name, owner, tier, quota, moment);
    }
}
