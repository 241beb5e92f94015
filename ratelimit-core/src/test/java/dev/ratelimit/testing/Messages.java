package dev.ratelimit.testing;

import ch.qos.logback.classic.Level;
import ch.qos.logback.classic.Logger;
import ch.qos.logback.classic.spi.ILoggingEvent;
import ch.qos.logback.core.read.ListAppender;
import java.util.List;
import org.slf4j.LoggerFactory;

/** The log lines of the library, at every level, while it is open. */
public final class Messages implements AutoCloseable {

    private final Logger logger = (Logger) LoggerFactory.getLogger("dev.ratelimit");
    private final Level before = logger.getLevel();
    private final ListAppender<ILoggingEvent> appender = new ListAppender<>();

    public Messages() {
        appender.start();
        logger.addAppender(appender);
        logger.setLevel(Level.TRACE);
    }

    public List<String> warnings() {
        return List.copyOf(appender.list).stream()
                .filter(event -> event.getLevel() == Level.WARN)
                .map(ILoggingEvent::getFormattedMessage)
                .toList();
    }

    public List<String> all() {
        return List.copyOf(appender.list).stream()
                .map(ILoggingEvent::getFormattedMessage)
                .toList();
    }

    @Override
    public void close() {
        logger.detachAppender(appender);
        logger.setLevel(before);
    }
}
