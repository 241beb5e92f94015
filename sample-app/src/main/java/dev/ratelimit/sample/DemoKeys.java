package dev.ratelimit.sample;

import dev.ratelimit.admin.NewKey;
import dev.ratelimit.admin.RateLimitAdmin;
import java.net.InetAddress;
import java.net.UnknownHostException;
import java.time.Duration;
import java.time.Instant;
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

    private final RateLimitAdmin admin;
    private final Environment environment;

    DemoKeys(RateLimitAdmin admin, Environment environment) {
        this.admin = admin;
        this.environment = environment;
    }

    /** To the console and not to the log: logs are kept, and secrets do not belong there. */
    @EventListener(ApplicationReadyEvent.class)
    void print() {
        String port = environment.getRequiredProperty("local.server.port");
        String premium = renew("premium", "alice", port);
        String enterprise = renew("enterprise", "bob", port);
        System.out.printf("""

                Two API keys to try, for a week or until the next start:

                    premium, of alice     %s
                    enterprise, of bob    %s

                    curl -H 'X-API-Key: %s' http://localhost:%s/api/usage

                """, premium, enterprise, premium, port);
    }

    private String renew(String tier, String owner, String port) {
        String name = BY + " " + tier + " of " + host() + ":" + port;
        Instant now = Instant.now();
        admin.keys().list(owner).stream()
                .filter(known -> known.key().name().equals(name) && known.isActive(now))
                .forEach(known -> admin.keys().revoke(known.key().id(), BY));
        return admin.keys()
                .create(NewKey.of(name, owner).tier(tier).expires(now.plus(VALID)), BY)
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
