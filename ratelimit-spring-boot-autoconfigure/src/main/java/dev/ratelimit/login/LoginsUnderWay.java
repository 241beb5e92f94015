package dev.ratelimit.login;

import dev.ratelimit.Decision;
import dev.ratelimit.LimitDecision;
import dev.ratelimit.LimitRequest;
import dev.ratelimit.RateLimiter;
import dev.ratelimit.Reservation;
import dev.ratelimit.Subject;
import java.time.Duration;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.Condition;
import java.util.concurrent.locks.ReentrantLock;
import java.util.stream.IntStream;

/**
 * The logins whose password is being checked by this instance. Each holds a charge meanwhile, so many correct logins at once
 * could use up a limit for a moment. That must neither deny them nor bring a penalty. So logins of an address wait for each other:
 *
 * <ol>
 *   <li>A login that finds others of its subjects under way looks first, without charging.
 *   <li>If the limit has no room, it waits until one of them is done and looks again. If they were wrong, none is under way in
 *       the end and the limit is used up. If they were correct, their charges are back.
 *   <li>Logins of the same address and name look and charge one after another, so that nothing comes in between.
 * </ol>
 *
 * Instances do not know the logins of each other: a login that they leave no room for is denied.
 */
final class LoginsUnderWay {

    private static final Duration LONGEST_WAIT = Duration.ofSeconds(5);
    private static final long LOOK_AGAIN_MILLIS = 20;
    private static final int QUEUES = 64;

    /** Logins that come one after another. */
    private static final class Queue {
        final ReentrantLock lock = new ReentrantLock();
        final Condition done = lock.newCondition();
    }

    private final RateLimiter limiter;
    private final Map<Subject, Integer> underWay = new ConcurrentHashMap<>();
    private final Queue[] queues =
            IntStream.range(0, QUEUES).mapToObj(i -> new Queue()).toArray(Queue[]::new);

    LoginsUnderWay(RateLimiter limiter) {
        this.limiter = limiter;
    }

    /** Charges a login; if it is allowed, {@link #done} has to follow. */
    Reservation begin(LimitRequest login, LoginSubjects subjects) {
        Queue queue = queueOf(login);
        queue.lock.lock();
        try {
            awaitRoom(login, subjects, queue);
            Reservation reservation = limiter.reserve(login);
            if (reservation.decision().allowed()) {
                subjects.ofAddress().forEach(subject -> underWay.merge(subject, 1, Integer::sum));
            }
            return reservation;
        } finally {
            queue.lock.unlock();
        }
    }

    private void awaitRoom(LimitRequest login, LoginSubjects subjects, Queue queue) {
        long end = System.nanoTime() + LONGEST_WAIT.toNanos();
        try {
            while (mayHaveRoomSoon(login, subjects) && System.nanoTime() - end < 0) {
                boolean unused = queue.done.await(LOOK_AGAIN_MILLIS, TimeUnit.MILLISECONDS);
            }
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }

    /** Whether there is no room now, and logins that are under way may give some back. */
    private boolean mayHaveRoomSoon(LimitRequest login, LoginSubjects subjects) {
        if (subjects.ofAddress().stream().noneMatch(underWay::containsKey)) {
            return false;
        }
        Decision now = limiter.peek(login);
        return !now.allowed()
                && now.penaltyUntil() == null
                && now.limits().stream()
                        .filter(limit -> !limit.allowed())
                        .map(LimitDecision::subject)
                        .allMatch(underWay::containsKey);
    }

    /** The password was checked, and the charge is settled. */
    void done(LimitRequest login, LoginSubjects subjects) {
        for (Subject subject : subjects.ofAddress()) {
            underWay.computeIfPresent(subject, (key, count) -> count == 1 ? null : count - 1);
        }
        Queue queue = queueOf(login);
        queue.lock.lock();
        try {
            queue.done.signalAll();
        } finally {
            queue.lock.unlock();
        }
    }

    private Queue queueOf(LimitRequest login) {
        return queues[Math.floorMod(login.items().get(0).subject().hashCode(), QUEUES)];
    }
}
