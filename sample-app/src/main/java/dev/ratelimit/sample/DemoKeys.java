package dev.ratelimit.sample;

import dev.ratelimit.admin.ApiKeyAdmin;
import dev.ratelimit.admin.NewApiKey;
import dev.ratelimit.admin.RateLimitAdmin;
import dev.ratelimit.admin.version.Change;
import java.net.InetAddress;
import java.net.UnknownHostException;
import java.time.Duration;
import java.time.Instant;
import java.util.Objects;
import org.jspecify.annotations.Nullable;
import org.springframework.beans.factory.ObjectProvider;
import org.springframework.boot.autoconfigure.condition.ConditionalOnProperty;
import org.springframework.boot.context.event.ApplicationReadyEvent;
import org.springframework.context.event.EventListener;
import org.springframework.core.env.Environment;
import org.springframework.stereotype.Component;

/**
 * Makes two API keys to try the tiers with, and prints them.
 *
 * <ol>
 *   <li>A secret is shown only when its key is made, so every start makes new ones.
 *   <li>The keys bear the name of this instance, its host and port: a restart revokes what this instance made before,
 *       and nothing that another instance on the same database has made.
 *   <li>The keys of an instance that never comes back expire.
 * </ol>
 */
@Component
@ConditionalOnProperty("ratelimit.api-keys.enabled")
class DemoKeys {

    private static final String BY = "demo";
    private static final Duration VALID = Duration.ofDays(7);

    private final @Nullable RateLimitAdmin admin;
    private final @Nullable KeysInMemory memory;
    private final Environment environment;

    DemoKeys(ObjectProvider<RateLimitAdmin> admin, ObjectProvider<KeysInMemory> memory, Environment environment) {
        this.admin = admin.getIfAvailable();
        this.memory = memory.getIfAvailable();
        this.environment = environment;
    }

    /** To the console and not to the log: logs are kept, and secrets do not belong there. */
    @EventListener(ApplicationReadyEvent.class)
    void print() {
        if (memory == null && (admin == null || !admin.isEnabled())) {
            return; // no limit applies, so a tier makes no difference
        }
        String port = environment.getRequiredProperty("local.server.port");
        String premium = renew("premium", "alice", port);
        String enterprise = renew("enterprise", "bob", port);
        System.out.printf(
                """

                Two API keys to try, for a week or until the next start:

                    premium, of alice     %s
                    enterprise, of bob    %s

                    curl -H 'X-API-Key: %s' http://localhost:%s%s/api/usage

                """, premium, enterprise, premium, port, environment.getProperty("server.servlet.context-path", ""));
    }

    private String renew(String tier, String owner, String port) {
        String name = BY + " " + tier + " of " + host() + ":" + port;
        if (memory != null) {
            return memory.create(name, owner, tier);
        }
        ApiKeyAdmin keys = Objects.requireNonNull(admin).keys();
        Instant now = Instant.now();
        keys.list(owner).stream()
                .filter(known -> known.key().name().equals(name) && known.isActive(now))
                .forEach(known -> keys.revoke(known.key().id(), Change.by(BY)));
        return keys.create(NewApiKey.of(name, owner).tier(tier).expires(now.plus(VALID)), Change.by(BY))
                .secret();
    }

    private static String host() {
        try {
            return InetAddress.getLocalHost().getHostName();
        } catch (UnknownHostException e) {
            return "localhost";
        }
    }
}
