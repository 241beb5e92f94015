package dev.ratelimit.data;

import dev.ratelimit.admin.version.EffectivePolicy;
import dev.ratelimit.admin.version.Problem;
import dev.ratelimit.admin.version.Version;
import dev.ratelimit.policy.LimitBook;
import dev.ratelimit.support.LogText;
import java.time.Instant;
import java.util.Collection;
import java.util.HashSet;
import java.util.Set;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** Logs invalid rows, and limits that are switched off or on. Not thread-safe. */
final class PolicyLog {

    private static final Logger log = LoggerFactory.getLogger(PolicyLog.class);

    private final PolicyDatabase database;
    private Set<Problem> reported = Set.of();

    PolicyLog(PolicyDatabase database) {
        this.database = database;
    }

    /** Logs which limits, or all of them, have been switched off or on. */
    void switched(EffectivePolicy before, EffectivePolicy after) {
        Set<String> off = after.off();
        for (String name : off) {
            if (!before.off().contains(name)) {
                log.warn("Rate limiting is off: {}, switched {}", spoken(name), LogText.of(author(after, name)));
            }
        }
        for (String name : before.off()) {
            if (!off.contains(name)) {
                log.info("Rate limiting is on again: {}, switched {}", spoken(name), LogText.of(author(after, name)));
            }
        }
    }

    private static String spoken(String name) {
        return name.equals(LimitBook.ALL) ? "all limits and rules" : "limit '" + LogText.of(name) + "'";
    }

    private static String author(EffectivePolicy policy, String name) {
        Version<?> stored = policy.limits().get(name);
        if (stored == null) {
            return "by the configuration";
        }
        Instant until = stored.expiresAt();
        return "by " + stored.by() + (stored.reason() == null ? "" : " (" + stored.reason() + ")")
                + (until == null ? "" : " until " + until);
    }

    /** Logs each problem once. */
    void problems(Collection<Problem> all) {
        Set<Problem> problems = new HashSet<>(all);
        for (Problem problem : problems) {
            if (!reported.contains(problem)) {
                log.warn("Skipping an invalid row of {}: {}", database, LogText.of(problem));
            }
        }
        reported = problems;
    }
}
