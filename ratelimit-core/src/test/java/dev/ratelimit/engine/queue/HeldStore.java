package dev.ratelimit.engine.queue;

import dev.ratelimit.Outcome;
import dev.ratelimit.algorithm.Charge;
import dev.ratelimit.algorithm.Verdict;
import dev.ratelimit.store.Answer;
import dev.ratelimit.store.LimitStore;
import dev.ratelimit.store.Operation;
import dev.ratelimit.store.Pruned;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;

/** A store that shows each group as it arrives and holds it until the test lets it go; every answer is yes. */
public final class HeldStore implements LimitStore {

    /** A group at the store. */
    public static final class Held {

        public final List<Operation> operations;
        public final Thread thread = Thread.currentThread();
        private final CountDownLatch released = new CountDownLatch(1);
        private volatile Throwable failure;

        private Held(List<Operation> operations) {
            this.operations = operations;
        }

        public int size() {
            return operations.size();
        }

        public List<String> subjects() {
            List<String> subjects = new ArrayList<>();
            operations.forEach(
                    one -> subjects.add(one.demands().get(0).subject().text()));
            return subjects;
        }

        public void release() {
            released.countDown();
        }

        public void fail(RuntimeException e) {
            failUndeclared(e);
        }

        public void failUndeclared(Throwable e) {
            failure = e;
            released.countDown();
        }
    }

    private final BlockingQueue<Held> groups = new LinkedBlockingQueue<>();
    private final boolean answersInTime;

    public HeldStore() {
        this(true);
    }

    public HeldStore(boolean answersInTime) {
        this.answersInTime = answersInTime;
    }

    @Override
    public boolean answersInTime() {
        return answersInTime;
    }

    @Override
    public List<Answer> decide(List<Operation> group) {
        Held held = new Held(List.copyOf(group));
        groups.add(held);
        boolean interrupted = false;
        while (true) {
            try {
                held.released.await();
                break;
            } catch (InterruptedException e) {
                interrupted = true;
            }
        }
        if (interrupted) {
            Thread.currentThread().interrupt();
        }
        if (held.failure != null) {
            HeldStore.<RuntimeException>sneak(held.failure);
        }
        return yes(group);
    }

    /** Throws what Java would have declared. */
    @SuppressWarnings({"unchecked", "TypeParameterUnusedInFormals"})
    private static <E extends Throwable> void sneak(Throwable failure) throws E {
        throw (E) failure;
    }

    public static List<Answer> yes(List<Operation> group) {
        List<Answer> answers = new ArrayList<>(group.size());
        for (Operation operation : group) {
            List<Verdict> verdicts = new ArrayList<>();
            operation
                    .demands()
                    .forEach(demand ->
                            verdicts.add(new Verdict(Outcome.ALLOWED, 1, 0, 0, 0, 0, new Charge(0, demand.cost(), 0))));
            answers.add(new Answer(0, verdicts));
        }
        return answers;
    }

    /** The next group that arrives. */
    public Held next() throws InterruptedException {
        Held held = groups.poll(10, TimeUnit.SECONDS);
        if (held == null) {
            throw new AssertionError("no group came to the store");
        }
        return held;
    }

    public boolean hasAnother() {
        return !groups.isEmpty();
    }

    @Override
    public Pruned prune(long keepMicros) {
        throw new UnsupportedOperationException();
    }

    @Override
    public void close() {}
}
