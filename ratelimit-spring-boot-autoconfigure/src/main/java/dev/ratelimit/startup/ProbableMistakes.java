package dev.ratelimit.startup;

import java.util.ArrayList;
import java.util.List;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.springframework.beans.factory.ObjectProvider;
import org.springframework.context.ApplicationContext;
import org.springframework.context.ApplicationListener;
import org.springframework.context.event.ContextRefreshedEvent;

/**
 * Names settings that are probably a mistake in one line of the log, when the application has started. None of them is
 * certain, so none of them stops the start.
 */
public final class ProbableMistakes implements ApplicationListener<ContextRefreshedEvent> {

    private static final Logger log = LoggerFactory.getLogger(ProbableMistakes.class);

    /** Looks for mistakes of one kind. */
    @FunctionalInterface
    public interface Finder {

        /** Describes each mistake, without a full stop. */
        List<String> find();
    }

    private final ApplicationContext context;
    private final ObjectProvider<Finder> finders;

    public ProbableMistakes(ApplicationContext context, ObjectProvider<Finder> finders) {
        this.context = context;
        this.finders = finders;
    }

    @Override
    public void onApplicationEvent(ContextRefreshedEvent event) {
        if (event.getApplicationContext() != context) {
            return; // a child, such as that of a management port
        }
        List<String> mistakes = new ArrayList<>();
        finders.orderedStream().forEach(finder -> addMistakes(finder, mistakes));
        if (!mistakes.isEmpty()) {
            log.warn("Rate limit settings that are probably a mistake: {}", String.join("; ", mistakes));
        }
    }

    /** Advice is never worth a failed start. */
    private static void addMistakes(Finder finder, List<String> mistakes) {
        try {
            mistakes.addAll(finder.find());
        } catch (RuntimeException e) {
            log.debug("Could not look for probable mistakes", e);
        }
    }
}
