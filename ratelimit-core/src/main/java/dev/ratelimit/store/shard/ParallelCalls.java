package dev.ratelimit.store.shard;

import dev.ratelimit.store.Answer;
import dev.ratelimit.store.LimitStoreException;
import dev.ratelimit.store.LockedKeysException;
import dev.ratelimit.store.Operation;
import dev.ratelimit.store.Operation.Kind;
import dev.ratelimit.support.DaemonThreads;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.ThreadPoolExecutor;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * Asks several shards at once: one on the thread of the caller, the others on threads of its own. If little time is left, the
 * caller asks none itself, since a call may take a whole deadline. Each shard gets its questions as one group, in their order.
 * Thread-safe.
 */
final class ParallelCalls implements AutoCloseable {

    private static final int THREADS_PER_SHARD = 16;

    private final List<Shard> shards;
    /** A shard that had less time than this is not to blame if it is late. */
    private final long fairNanos;

    private final ThreadPoolExecutor threads;

    /**
     * @param deadline of a group
     */
    ParallelCalls(List<Shard> shards, Duration deadline) {
        this.shards = shards;
        this.fairNanos = deadline.toNanos() / 2;
        this.threads = DaemonThreads.pool("ratelimit-shard-", THREADS_PER_SHARD * shards.size());
    }

    /** The answers of one shard, {@code null} where there is none, and its failure. */
    private record Reply(
            List<@Nullable Answer> answers, @Nullable LimitStoreException failure) {}

    /** The questions to one shard. */
    private static final class Call {

        private final List<Question> questions = new ArrayList<>();
        private @Nullable CompletableFuture<Reply> reply;
    }

    /**
     * Returns when all questions are answered or have failed, but not after the deadline. After the deadline, nobody is asked.
     *
     * @param end the deadline, in the time of {@link System#nanoTime()}
     * @param late is given a copy of each question that is answered, or fails, after the deadline
     */
    void ask(List<Question> questions, long end, Consumer<Question> late) {
        long left = end - System.nanoTime();
        if (left <= 0) {
            questions.forEach(question -> question.failed(tooLate()));
            return;
        }
        @Nullable Call[] calls = new @Nullable Call[shards.size()];
        for (Question question : questions) {
            Call call = calls[question.shard];
            if (call == null) {
                call = new Call();
                calls[question.shard] = call;
            }
            call.questions.add(question);
        }
        boolean fair = left >= fairNanos;
        int own = -1;
        for (int shard = 0; shard < calls.length; shard++) {
            Call call = calls[shard];
            if (call == null) {
                continue;
            }
            if (fair && own < 0 && shards.get(shard).store().answersInTime()) {
                own = shard;
            } else {
                send(shard, call);
            }
        }
        Call mine = own < 0 ? null : calls[own];
        if (mine != null) {
            take(mine, reply(own, mine.questions));
        }
        for (int shard = 0; shard < calls.length; shard++) {
            Call call = calls[shard];
            if (call != null && call.reply != null) {
                await(shard, call, call.reply, end, fair, late);
            }
        }
    }

    private void send(int shard, Call call) {
        List<Question> questions = List.copyOf(call.questions);
        try {
            call.reply = CompletableFuture.supplyAsync(() -> reply(shard, questions), threads);
        } catch (RejectedExecutionException e) {
            fail(call, new LimitStoreException(named(shard) + " does not answer: too many calls wait for it", e));
        }
    }

    private Reply reply(int shard, List<Question> questions) {
        List<Operation> group =
                questions.stream().map(question -> question.operation).toList();
        try {
            return new Reply(new ArrayList<>(shards.get(shard).store().decide(group)), null);
        } catch (LimitStoreException e) {
            return new Reply(e.answers(), e);
        } catch (RuntimeException e) {
            return new Reply(List.of(), new LimitStoreException(named(shard) + " failed: " + e.getMessage(), e));
        }
    }

    private static void take(Call call, Reply reply) {
        for (int i = 0; i < call.questions.size(); i++) {
            Answer answer = reply.answers().isEmpty() ? null : reply.answers().get(i);
            if (answer != null) {
                call.questions.get(i).answered(answer);
            } else if (reply.failure() != null) {
                call.questions.get(i).failed(reply.failure());
            }
        }
    }

    private void await(
            int shard, Call call, CompletableFuture<Reply> reply, long end, boolean fair, Consumer<Question> late) {
        try {
            take(call, reply.get(Math.max(0, end - System.nanoTime()), TimeUnit.NANOSECONDS));
        } catch (TimeoutException e) {
            leave(call, reply, new LimitStoreException(named(shard) + " missed the deadline", e), fair, late);
        } catch (ExecutionException e) {
            fail(call, new LimitStoreException(named(shard) + " failed: " + e.getMessage(), e));
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            leave(call, reply, new LimitStoreException("interrupted while waiting for " + named(shard), e), true, late);
        }
    }

    private static void leave(
            Call call, CompletableFuture<Reply> reply, LimitStoreException e, boolean fair, Consumer<Question> late) {
        Call copy = new Call();
        for (Question question : call.questions) {
            // Only of these is it harmless to say that nothing was changed: a charge that comes late is given back.
            boolean excused =
                    !fair && (question.operation.kind() == Kind.DECIDE || question.operation.kind() == Kind.PEEK);
            question.missed(excused ? tooLate() : e);
            copy.questions.add(new Question(question.shard, question.operation));
        }
        CompletableFuture<Void> unused = reply.thenAccept(given -> {
            take(copy, given);
            copy.questions.forEach(late);
        });
    }

    /** No shard is to blame: the group itself took too long. */
    private static LockedKeysException tooLate() {
        return new LockedKeysException(
                "the requests of this group took until the deadline",
                Set.of(),
                List.of(),
                new TimeoutException("too little time was left to ask"));
    }

    private String named(int shard) {
        return "shard " + shards.get(shard).name();
    }

    private static void fail(Call call, LimitStoreException e) {
        call.questions.forEach(question -> question.failed(e));
    }

    @Override
    public void close() {
        threads.shutdown();
    }
}
