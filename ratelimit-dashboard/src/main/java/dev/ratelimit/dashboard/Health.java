package dev.ratelimit.dashboard;

import dev.ratelimit.operate.InstanceStatus;

/**
 * The state of this instance in a few words, for the top of the page.
 *
 * @param state {@code good}, {@code warn} or {@code bad}
 */
record Health(String state, String text) {

    static Health of(InstanceStatus status, boolean enabled) {
        if (!enabled) {
            return new Health("bad", "Limits are off");
        }
        InstanceStatus.Store store = status.store();
        if (store != null && !store.available()) {
            return new Health("bad", "Store unavailable");
        }
        int warnings = status.warnings().size();
        return switch (warnings) {
            case 0 -> new Health("good", "All well");
            case 1 -> new Health("warn", "1 warning");
            default -> new Health("warn", warnings + " warnings");
        };
    }
}
