package dev.ratelimit.support;

import java.util.concurrent.ThreadFactory;
import java.util.concurrent.atomic.AtomicInteger;

/** Creates background threads, which do not keep the JVM alive. For internal use. */
public final class DaemonThreads {

    private DaemonThreads() {}

    /** Gives every thread the same name: for executors with one thread. */
    public static ThreadFactory named(String name) {
        return work -> daemon(work, name);
    }

    /** Appends 1, 2, 3 … to the prefix. */
    public static ThreadFactory numbered(String prefix) {
        AtomicInteger number = new AtomicInteger();
        return work -> daemon(work, prefix + number.incrementAndGet());
    }

    private static Thread daemon(Runnable work, String name) {
        Thread thread = new Thread(work, name);
        thread.setDaemon(true);
        // Not that of a web application that is just being started: if the start fails, Tomcat warns of a leak.
        thread.setContextClassLoader(DaemonThreads.class.getClassLoader());
        return thread;
    }
}
