package dev.ratelimit.event.publisher;

import dev.ratelimit.DecisionListener;
import dev.ratelimit.LimitDecision;
import dev.ratelimit.Outcome;
import dev.ratelimit.RequestRecord;
import dev.ratelimit.Subject;
import dev.ratelimit.admin.version.Version;
import dev.ratelimit.caller.Account;
import dev.ratelimit.data.ChangeListener;
import dev.ratelimit.engine.StoreListener;
import dev.ratelimit.event.AddressBlockedEvent;
import dev.ratelimit.event.AddressUnblockedEvent;
import dev.ratelimit.event.LimitChangedEvent;
import dev.ratelimit.event.LimitExceededEvent;
import dev.ratelimit.event.PenaltyBegunEvent;
import dev.ratelimit.event.RateLimitEvent;
import dev.ratelimit.event.RuleChangedEvent;
import dev.ratelimit.event.StoreLostEvent;
import dev.ratelimit.event.StoreRegainedEvent;
import dev.ratelimit.event.SubjectResetEvent;
import dev.ratelimit.event.UserBlockedEvent;
import dev.ratelimit.event.UserUnblockedEvent;
import dev.ratelimit.operate.Steering;
import dev.ratelimit.support.DaemonThreads;
import dev.ratelimit.support.LogText;
import java.time.Duration;
import java.time.Instant;
import java.util.Objects;
import java.util.Queue;
import java.util.concurrent.ArrayBlockingQueue;
import java.util.concurrent.Semaphore;
import java.util.concurrent.atomic.LongAdder;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Publishes events on a thread of its own, so that a listener that takes its time delays no request. While a queue is full, its
 * events are dropped and counted. Violations and penalties have a queue of their own, and come after other events: an attack
 * must not hide that the store is lost, or that an operator changed a limit. Thread-safe.
 */
public final class EventPublisher implements DecisionListener, StoreListener, ChangeListener, AutoCloseable {

    /** Enough for a burst; a listener that is slower than that for long cannot keep up anyway. */
    static final int MOST_WAITING = 10_000;

    /** More changes than operators make while a listener hangs. */
    static final int MOST_OTHERS = 1_000;

    private static final Logger log = LoggerFactory.getLogger(EventPublisher.class);

    private final Consumer<RateLimitEvent> publisher;
    private final Queue<RateLimitEvent> violations = new ArrayBlockingQueue<>(MOST_WAITING);
    private final Queue<RateLimitEvent> others = new ArrayBlockingQueue<>(MOST_OTHERS);

    /** As many permits as events wait. */
    private final Semaphore waiting = new Semaphore(0);

    private final LongAdder dropped = new LongAdder();
    private @Nullable Thread thread;

    /**
     * @param publisher gives an event to the listeners of the application
     */
    public EventPublisher(Consumer<RateLimitEvent> publisher) {
        this.publisher = publisher;
    }

    /** Events wait until this is called: before, listeners may not be ready. */
    public synchronized void start() {
        if (thread == null) {
            thread = DaemonThreads.named("ratelimit-events").newThread(this::publish);
            thread.start();
        }
    }

    private void publish() {
        try {
            while (!Thread.currentThread().isInterrupted()) {
                waiting.acquire();
                RateLimitEvent other = others.poll();
                publish(other != null ? other : Objects.requireNonNull(violations.poll()));
            }
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }

    private void publish(RateLimitEvent event) {
        try {
            publisher.accept(event);
        } catch (RuntimeException | Error e) {
            log.warn(
                    "Ignoring the failure of a listener for {}: {}",
                    event.getClass().getSimpleName(),
                    LogText.of(e.getMessage()),
                    LogText.trace(e));
        }
    }

    private void add(RateLimitEvent event) {
        add(event, others);
    }

    private void add(RateLimitEvent event, Queue<RateLimitEvent> queue) {
        if (queue.offer(event)) {
            waiting.release();
        } else {
            dropped.increment();
        }
    }

    /** How many events were dropped since the start, because listeners were too slow. */
    public long dropped() {
        return dropped.sum();
    }

    @Override
    public void recorded(RequestRecord request) {
        for (RequestRecord.Asked asked : request.asked()) {
            if (asked.decision().allowed()) {
                continue;
            }
            for (LimitDecision one : asked.decision().limits()) {
                if (one.outcome() == Outcome.THROTTLED) {
                    addViolation(request, one, asked.decision().at());
                }
            }
        }
    }

    private void addViolation(RequestRecord request, LimitDecision one, Instant at) {
        String limit = one.limit().name();
        add(
                new LimitExceededEvent(limit, one.subject(), one.rule(), at, one.retryAfter(), request.exchange()),
                violations);
        Instant until = one.penaltyUntil();
        if (until != null) {
            add(new PenaltyBegunEvent(limit, one.subject(), at, until), violations);
        }
    }

    @Override
    public void storeLost(String reason) {
        add(new StoreLostEvent(reason));
    }

    @Override
    public void storeRegained(Duration unavailableFor) {
        add(new StoreRegainedEvent(unavailableFor));
    }

    /** Without a subject, changes may have been missed: it is not known which. */
    @Override
    public void subjectReset(@Nullable String subject) {
        if (subject != null) {
            add(new SubjectResetEvent(Subject.ofText(subject)));
        }
    }

    @Override
    public void policyChanged() {}

    @Override
    public void limitChanged(String name, @Nullable Version<?> inForce) {
        add(
                inForce == null
                        ? new LimitChangedEvent(name, null, null, null, null)
                        : new LimitChangedEvent(
                                name, inForce.number(), inForce.by(), inForce.reason(), inForce.expiresAt()));
    }

    @Override
    public void ruleChanged(String name, @Nullable Version<?> inForce) {
        add(
                inForce == null
                        ? new RuleChangedEvent(name, null, null, null, null)
                        : new RuleChangedEvent(
                                name, inForce.number(), inForce.by(), inForce.reason(), inForce.expiresAt()));
        String addresses = Steering.addressesBlockedBy(name);
        if (addresses != null) {
            add(
                    inForce == null || inForce.content() == null
                            ? new AddressUnblockedEvent(addresses)
                            : new AddressBlockedEvent(addresses, inForce.expiresAt(), inForce.by(), inForce.reason()));
        }
    }

    @Override
    public void userBlocked(Account account) {
        add(new UserBlockedEvent(
                account.user(), Objects.requireNonNull(account.blockedUntil()), account.blockReason()));
    }

    @Override
    public void userUnblocked(String user) {
        add(new UserUnblockedEvent(user));
    }

    @Override
    public synchronized void close() {
        if (thread != null) {
            thread.interrupt();
        }
    }
}
