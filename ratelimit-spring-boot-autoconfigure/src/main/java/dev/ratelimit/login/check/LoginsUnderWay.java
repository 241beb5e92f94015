package dev.ratelimit.login.check;

import dev.ratelimit.Decision;
import dev.ratelimit.LimitDecision;
import dev.ratelimit.LimitRequest;
import dev.ratelimit.Subject;
import java.time.Duration;
import java.util.HashMap;
import java.util.Map;
import java.util.TreeSet;
import java.util.concurrent.locks.Condition;
import java.util.concurrent.locks.ReentrantLock;

/**
 * The logins whose password is being checked by this instance, in the order in which they began. A correct login waits for those
 * before it whose failures could use up its limits. Others are not held up. Instances do not know the logins of each other.
 */
final class LoginsUnderWay {

    private static final Duration LONGEST_WAIT = Duration.ofSeconds(5);

    private final ReentrantLock lock = new ReentrantLock();
    private final Condition done = lock.newCondition();
    private final Map<Subject, TreeSet<Long>> numbers = new HashMap<>();
    private long last;

    /** Notes a login; {@link #done} has to follow. */
    long begin(LimitRequest login) {
        lock.lock();
        try {
            long number = ++last;
            login.items()
                    .forEach(item -> numbers.computeIfAbsent(item.subject(), subject -> new TreeSet<>())
                            .add(number));
            return number;
        } finally {
            lock.unlock();
        }
    }

    void done(LimitRequest login, long number) {
        lock.lock();
        try {
            login.items()
                    .forEach(item -> numbers.computeIfPresent(
                            item.subject(), (subject, all) -> all.remove(number) && all.isEmpty() ? null : all));
            done.signalAll();
        } finally {
            lock.unlock();
        }
    }

    /**
     * Waits while earlier logins could use up what the limits have left.
     *
     * @param look what is left
     * @return whether it has waited, and the limits must be looked at again; false also after the longest wait
     */
    boolean awaitEarlier(Decision look, long number, long startNanos) {
        lock.lock();
        try {
            boolean waited = false;
            long left = LONGEST_WAIT.toNanos() - (System.nanoTime() - startNanos);
            while (left > 0 && couldBeUsedUp(look, number)) {
                waited = true;
                left = done.awaitNanos(left);
            }
            return waited && left > 0;
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            return false;
        } finally {
            lock.unlock();
        }
    }

    private boolean couldBeUsedUp(Decision look, long number) {
        for (LimitDecision limit : look.limits()) {
            TreeSet<Long> all = numbers.get(limit.subject());
            if (all != null && all.headSet(number).size() >= limit.remaining()) {
                return true;
            }
        }
        return false;
    }
}
