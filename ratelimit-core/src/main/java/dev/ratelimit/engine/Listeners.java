package dev.ratelimit.engine;

import dev.ratelimit.Decision;
import dev.ratelimit.DecisionListener;
import dev.ratelimit.LimitDecision;
import dev.ratelimit.LimitRequest;
import java.time.Duration;
import java.util.List;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** Tells listeners; an exception of one of them is logged and reaches nobody. */
final class Listeners {

    private static final Logger log = LoggerFactory.getLogger(Listeners.class);

    private final List<DecisionListener> all;

    Listeners(List<DecisionListener> all) {
        this.all = List.copyOf(all);
    }

    boolean isEmpty() {
        return all.isEmpty();
    }

    /**
     * @param startNanos when the request came, in the time of {@link System#nanoTime()}
     */
    void decided(LimitRequest request, Decision decision, long startNanos) {
        if (all.isEmpty()) {
            return;
        }
        Duration took = Duration.ofNanos(System.nanoTime() - startNanos);
        for (DecisionListener listener : all) {
            try {
                listener.decided(request, decision, took);
            } catch (RuntimeException | Error e) {
                log.warn("Ignoring the failure of a listener on a decision: {}", e.getMessage(), e);
            }
        }
    }

    void tried(LimitDecision decision, @Nullable String rule) {
        for (DecisionListener listener : all) {
            try {
                listener.tried(decision, rule);
            } catch (RuntimeException | Error e) {
                log.warn("Ignoring the failure of a listener on a trial: {}", e.getMessage(), e);
            }
        }
    }
}
