package dev.ratelimit.support;

import java.util.concurrent.SynchronousQueue;
import java.util.concurrent.ThreadFactory;
import java.util.concurrent.ThreadPoolExecutor;
import java.util.concurrent.TimeUnit;
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

    /** A pool without a queue: if all threads are busy, it rejects work. Idle threads end after half a minute. */
    public static ThreadPoolExecutor pool(String prefix, int most) {
        return new ThreadPoolExecutor(0, most, 30, TimeUnit.SECONDS, new SynchronousQueue<>(), numbered(prefix));
    }

    private static Thread daemon(Runnable work, String name) {
        Thread thread = new Thread(work, name);
        thread.setDaemon(true);
        // Not that of a web application that is just being started: if the start fails, Tomcat warns of a leak.
        thread.setContextClassLoader(DaemonThreads.class.getClassLoader());
        return thread;
    }
}
