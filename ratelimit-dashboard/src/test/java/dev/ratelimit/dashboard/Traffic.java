package dev.ratelimit.dashboard;

import dev.ratelimit.audit.RequestAudit;
import java.nio.file.Path;
import java.time.Duration;
import java.util.LinkedHashMap;
import java.util.Map;
import org.springframework.context.ApplicationContext;

/** The limits of the shop in the tests of the page, and requests to it. */
final class Traffic {

    /** Names the file in which to keep the picture of the README. */
    static final String PICTURE = System.getProperty("dashboard.picture", "");

    /** A user whose name would be a script if it were not text; an ordinary one in the picture of the README. */
    static final String SCRIPT = PICTURE.isEmpty() ? "<script>alert(1)</script>" : "carol";

    private Traffic() {}

    /** Settings with limits of several kinds, one with a trial, on a file. */
    static Map<String, String> settings(Path folder) {
        Map<String, String> settings = new LinkedHashMap<>();
        settings.put("spring.application.name", "shop");
        settings.put("ratelimit.store.type", "sqlite");
        settings.put("ratelimit.store.sqlite.path", folder.resolve("limits.db").toString());
        settings.put("ratelimit.audit.mode", "all");
        limit(settings, "orders", "sliding-log", "max-requests", "20", "window", "1m");
        limit(settings, "orders", "sliding-log", "candidate.max-requests", "5");
        limit(settings, "burst", "token-bucket", "burst", "12", "refill", "10/m");
        limit(settings, "search", "fixed-window", "max-requests", "3", "window", "1h");
        settings.put("ratelimit.limits.search.penalties[0].after", "2");
        settings.put("ratelimit.limits.search.penalties[0].block", "30m");
        rule(settings, "orders", "/api/orders/*", "orders, burst");
        rule(settings, "search", "/api/search/*", "search");
        settings.put("ratelimit.tiers.default", "free");
        settings.put("ratelimit.tiers.quotas.free.per-day", "1000");
        rule(settings, "quota", "/api/**", "quota");
        return settings;
    }

    private static void limit(Map<String, String> settings, String name, String algorithm, String... properties) {
        String prefix = "ratelimit.limits." + name + ".";
        settings.put(prefix + "algorithm", algorithm);
        for (int i = 0; i < properties.length; i += 2) {
            settings.put(prefix + properties[i], properties[i + 1]);
        }
    }

    private static void rule(Map<String, String> settings, String name, String path, String limits) {
        String prefix = "ratelimit.rules." + name + ".";
        settings.put(prefix + "path", path);
        settings.put(prefix + "key", "user");
        settings.put(prefix + "limits", limits);
    }

    /** An hour of customers who order, one who searches too much at the end, and one with a strange name. */
    static void send(ApplicationContext shop) {
        Shop.MovableClock clock = shop.getBean(Shop.MovableClock.class);
        Http http = Http.at(shop);
        for (int minute = 59; minute >= 0; minute--) {
            clock.set(Duration.ofMinutes(-minute));
            repeat(2 + minute % 3, http.as("alice"), "/api/orders/1");
            repeat(minute % 2, http.as("bob"), "/api/orders/2");
            if (minute > 14 && minute < 20) {
                repeat(16, http.as(SCRIPT), "/api/orders/3");
            }
        }
        repeat(7, http.as("mallory"), "/api/search/everything");
        shop.getBean(RequestAudit.class).flush();
    }

    static void repeat(int times, Http user, String path) {
        for (int i = 0; i < times; i++) {
            user.get(path);
        }
    }
}
