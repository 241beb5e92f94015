package dev.ratelimit.test;

import java.util.LinkedHashSet;
import java.util.Set;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The state that tests leave behind in an application context, which they share. It is reset before each test, unless
 * another test is running in the same context: that would lose its counts.
 */
final class TestState {

    private static final Logger log = LoggerFactory.getLogger(TestState.class);

    private final Runnable reset;
    private final Set<String> running = new LinkedHashSet<>();
    private boolean warned;

    TestState(Runnable reset) {
        this.reset = reset;
    }

    synchronized void started(String test) {
        if (running.isEmpty()) {
            reset.run();
        } else if (!warned) {
            warned = true;
            log.warn(
                    "{} runs at the same time as {}, in the same application context; they share counts, and neither starts"
                            + " without any. Run them one after another, with @ResourceLock(\"ratelimit\"), or give each"
                            + " test its own user.",
                    test,
                    running);
        }
        running.add(test);
    }

    synchronized void ended(String test) {
        running.remove(test);
    }
}
