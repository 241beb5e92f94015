package dev.ratelimit.benchmark.peer;

import dev.ratelimit.Decision;
import dev.ratelimit.Limit;
import dev.ratelimit.LimitRequest;
import dev.ratelimit.Limits;
import dev.ratelimit.Subject;
import dev.ratelimit.engine.Grouping;
import dev.ratelimit.engine.StoreRateLimiter;
import dev.ratelimit.store.LimitStore;
import java.time.Duration;
import java.util.List;
import java.util.stream.IntStream;

/** The rate limiter of this project on one of its stores; one instance or several. */
public final class Ours implements Peer {

    private final StoreRateLimiter[] instances;
    private final Subject[] subjects;
    private final List<Limit> limits;
    private final AutoCloseable underneath;
    private long chargedBefore;

    /**
     * @param stores one for each instance
     * @param keys how many keys there are
     * @param limits all of them have to admit a request
     * @param underneath is closed at the end
     */
    public Ours(List<? extends LimitStore> stores, int groups, int keys, List<Limit> limits, AutoCloseable underneath) {
        Grouping grouping = Grouping.DEFAULT.withGroupsInFlight(groups).withDeadline(Duration.ofSeconds(30));
        this.instances = stores.stream()
                .map(store -> StoreRateLimiter.builder(store, Limits.of(limits))
                        .grouping(grouping)
                        .build())
                .toArray(StoreRateLimiter[]::new);
        this.limits = List.copyOf(limits);
        this.underneath = underneath;
        this.subjects = new Subject[keys];
        for (int i = 0; i < keys; i++) {
            subjects[i] = Subject.user("user" + i);
        }
    }

    @Override
    public boolean decide(int key) {
        Decision decision = instance().decide(request(key));
        if (!decision.outcome().isDecided()) {
            throw new IllegalStateException("no decision: " + decision, decision.failure());
        }
        return decision.allowed();
    }

    private StoreRateLimiter instance() {
        return instances.length == 1
                ? instances[0]
                : instances[Math.floorMod(System.identityHashCode(Thread.currentThread()), instances.length)];
    }

    private LimitRequest request(int key) {
        LimitRequest request = LimitRequest.of(subjects[key], limits.get(0));
        for (int i = 1; i < limits.size(); i++) {
            request = request.and(subjects[(key * 7 + i) % subjects.length], limits.get(i));
        }
        return request;
    }

    /** What the first limit has granted, according to the store; a lease is held apart from it. */
    @Override
    public long admitted(int key) {
        Limit limit = limits.get(0);
        return limit.lease().isNone()
                ? limit.capacity()
                        - instances[0]
                                .peek(LimitRequest.of(subjects[key], limit))
                                .remaining()
                        - chargedBefore
                : -1;
    }

    /** Charges every key that much in advance. */
    public Ours charged(long cost) {
        IntStream.range(0, subjects.length).parallel().forEach(key -> {
            Decision decision = instances[0].decide(
                    LimitRequest.of(subjects[key], limits.get(0)).cost(cost));
            if (!decision.allowed()) {
                throw new IllegalStateException("not charged: " + decision);
            }
        });
        chargedBefore = cost;
        return this;
    }

    @Override
    public void close() throws Exception {
        for (StoreRateLimiter instance : instances) {
            instance.close();
        }
        underneath.close();
    }
}
