package dev.ratelimit.engine;

import dev.ratelimit.store.Answer;
import dev.ratelimit.store.ForwardingLimitStore;
import dev.ratelimit.store.LimitStore;
import dev.ratelimit.store.LimitStoreException;
import dev.ratelimit.store.Operation;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicInteger;

/** A store that can be down, lose its reply after it has decided, or be held up. */
final class SwitchedStore extends ForwardingLimitStore {

    private final AtomicInteger calls = new AtomicInteger();
    private volatile boolean down;
    private volatile boolean losesReplies;
    private volatile CountDownLatch before = new CountDownLatch(0);
    private volatile CountDownLatch after = new CountDownLatch(0);

    SwitchedStore(LimitStore store) {
        super(store);
    }

    SwitchedStore down(boolean is) {
        down = is;
        return this;
    }

    void losesReplies(boolean does) {
        losesReplies = does;
    }

    /** Holds up calls before they are decided, until the latch is open. */
    void holdBefore(CountDownLatch latch) {
        before = latch;
    }

    /** Holds up calls after they were decided, until the latch is open. */
    void holdAfter(CountDownLatch latch) {
        after = latch;
    }

    int calls() {
        return calls.get();
    }

    /** Callers must be able to leave. */
    @Override
    public boolean answersInTime() {
        return false;
    }

    @Override
    public List<Answer> decide(List<Operation> group) {
        calls.incrementAndGet();
        if (down) {
            throw new LimitStoreException("the store is down", null);
        }
        await(before);
        List<Answer> answers = super.decide(group);
        await(after);
        if (losesReplies) {
            throw new LimitStoreException("the reply was lost", null);
        }
        return answers;
    }

    private static void await(CountDownLatch latch) {
        boolean interrupted = false;
        while (true) {
            try {
                latch.await();
                break;
            } catch (InterruptedException e) {
                interrupted = true;
            }
        }
        if (interrupted) {
            Thread.currentThread().interrupt();
        }
    }
}
