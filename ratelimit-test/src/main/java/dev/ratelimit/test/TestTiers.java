package dev.ratelimit.test;

import dev.ratelimit.caller.Account;
import dev.ratelimit.caller.Accounts;
import dev.ratelimit.caller.Quota;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;

/** The tiers of {@link WithTier}, by user. */
final class TestTiers {

    private final Map<String, String> byUser = new ConcurrentHashMap<>();

    void set(String user, String tier) {
        byUser.put(user, tier);
    }

    void clear() {
        byUser.clear();
    }

    /** The accounts of the application, with the tiers of the test. */
    Accounts over(Accounts others) {
        return user -> {
            Account known = others.find(user);
            String tier = byUser.get(user);
            if (tier == null) {
                return known;
            }
            return known == null
                    ? new Account(user, tier, Quota.NONE, null, null)
                    : new Account(user, tier, known.quota(), known.blockedUntil(), known.blockReason());
        };
    }
}
