package dev.ratelimit.benchmark.peer;

import dev.ratelimit.Decision;
import dev.ratelimit.Limit;
import dev.ratelimit.LimitRequest;
import dev.ratelimit.Reservation;
import dev.ratelimit.Subject;
import dev.ratelimit.engine.StoreRateLimiter;
import dev.ratelimit.store.LimitStore;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.function.IntPredicate;
import javax.sql.DataSource;

/** The rate limiter of this project on one of its stores; one instance or several. */
public final class Ours implements Peer {

    /** As many as fill a group when keys are charged in advance. */
    private static final int CHARGING_THREADS = 64;

    private final StoreRateLimiter[] instances;
    private final Subject[] subjects;
    private final List<Limit> limits;
    private final boolean oneEach;
    private final AutoCloseable underneath;
    private final long[] chargedBefore;
    private ViolationCounter violations = key -> -1;

    /** How many violations the store has counted; negative if it cannot be asked. */
    private interface ViolationCounter {
        long of(int key) throws SQLException;
    }

    private Ours(
            List<? extends LimitStore> stores,
            int groups,
            int keys,
            List<Limit> limits,
            boolean oneEach,
            AutoCloseable underneath) {
        this.instances =
                stores.stream().map(store -> Stores.limiter(store, groups)).toArray(StoreRateLimiter[]::new);
        this.limits = List.copyOf(limits);
        this.oneEach = oneEach;
        this.underneath = underneath;
        this.subjects = new Subject[keys];
        this.chargedBefore = new long[keys];
        for (int i = 0; i < keys; i++) {
            subjects[i] = Subject.user("user" + i);
        }
    }

    /**
     * Every request asks all limits, and all of them have to admit it.
     *
     * @param stores one for each instance
     * @param keys how many keys there are
     * @param underneath is closed at the end
     */
    public static Ours askingAll(
            List<? extends LimitStore> stores, int groups, int keys, List<Limit> limits, AutoCloseable underneath) {
        return new Ours(stores, groups, keys, limits, false, underneath);
    }

    /** Every request asks one limit, that of its key: the limits are dealt out to the keys in turn. */
    public static Ours askingOneEach(LimitStore store, int groups, int keys, List<Limit> limits) {
        return new Ours(List.of(store), groups, keys, limits, true, () -> {});
    }

    @Override
    public boolean decide(int key) {
        return decided(instance().decide(request(key))).allowed();
    }

    private static Decision decided(Decision decision) {
        if (decision.failure() != null) {
            throw new IllegalStateException("no decision: " + decision, decision.failure());
        }
        return decision;
    }

    private StoreRateLimiter instance() {
        return instances.length == 1
                ? instances[0]
                : instances[Math.floorMod(System.identityHashCode(Thread.currentThread()), instances.length)];
    }

    private LimitRequest request(int key) {
        LimitRequest request = firstOf(key);
        for (int i = 1; i < limits.size() && !oneEach; i++) {
            request = request.and(subjects[(key * 7 + i) % subjects.length], limits.get(i));
        }
        return request;
    }

    private LimitRequest firstOf(int key) {
        return LimitRequest.of(subjects[key], limit(key));
    }

    private Limit limit(int key) {
        return limits.get(oneEach ? key % limits.size() : 0);
    }

    /** Looks at the first limit of the key. A lease is held apart from the store, so nothing can be said about it. */
    @Override
    public void requireExact(int key, long admitted, long denied) throws SQLException {
        Limit limit = limit(key);
        if (!limit.lease().isNone()) {
            return;
        }
        long remaining = decided(instances[0].peek(firstOf(key))).remaining();
        Peer.requireSame("admitted", key, limit.capacity() - remaining - chargedBefore[key], admitted);
        long counted = violations.of(key);
        if (counted >= 0) {
            Peer.requireSame("denied", key, counted, denied);
        }
    }

    /** Checks violations, too, which are in the table of that schema. */
    public Ours countingViolations(DataSource pool, String schema) {
        violations = key -> {
            try (Connection connection = pool.getConnection();
                    PreparedStatement statement = connection.prepareStatement("SELECT violation_count FROM " + schema
                            + ".rate_limit_penalties WHERE user_id = ? AND resource = ?")) {
                statement.setString(1, subjects[key].text());
                statement.setString(2, limit(key).name());
                try (ResultSet row = statement.executeQuery()) {
                    return row.next() ? row.getLong(1) : 0;
                }
            }
        };
        return this;
    }

    /** Charges every key that much in advance. */
    public Ours charged(long cost) throws Exception {
        charge(key -> true, cost);
        return this;
    }

    /** Charges some of the keys in advance with all that their limit grants. */
    public Ours usedUp(IntPredicate keys) throws Exception {
        charge(keys, limits.get(0).capacity());
        return this;
    }

    private void charge(IntPredicate keys, long cost) throws Exception {
        ExecutorService threads = Executors.newFixedThreadPool(CHARGING_THREADS);
        try {
            List<Future<?>> charges = new ArrayList<>();
            for (int key = 0; key < subjects.length; key++) {
                if (keys.test(key)) {
                    LimitRequest request = firstOf(key).cost(cost);
                    charges.add(threads.submit(() -> requireAllowed(instances[0].decide(request))));
                    chargedBefore[key] += cost;
                }
            }
            for (Future<?> charge : charges) {
                charge.get();
            }
        } finally {
            threads.shutdown();
        }
    }

    private static void requireAllowed(Decision decision) {
        if (!decision.allowed()) {
            throw new IllegalStateException("not charged: " + decision);
        }
    }

    /** The same limiter, by which every request is reserved and then refunded; both together count as one decision. */
    public Peer reserving() {
        return new Reserving();
    }

    private final class Reserving implements Peer {

        @Override
        public boolean decide(int key) {
            Reservation reservation = instance().reserve(request(key));
            boolean allowed = decided(reservation.decision()).allowed();
            if (allowed && !reservation.refund()) {
                throw new IllegalStateException("not refunded: " + reservation.decision());
            }
            return allowed;
        }

        /** Every admitted request was given back. */
        @Override
        public void requireExact(int key, long admitted, long denied) throws SQLException {
            Ours.this.requireExact(key, 0, denied);
        }

        @Override
        public void close() throws Exception {
            Ours.this.close();
        }
    }

    @Override
    public void close() throws Exception {
        for (StoreRateLimiter instance : instances) {
            instance.close();
        }
        underneath.close();
    }
}
