package dev.ratelimit.engine;

import dev.ratelimit.Subject;
import dev.ratelimit.store.Answer;
import dev.ratelimit.store.ForwardingLimitStore;
import dev.ratelimit.store.LimitStoreException;
import dev.ratelimit.store.MemoryLimitStore;
import dev.ratelimit.store.Operation;
import dev.ratelimit.store.StateKey;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicInteger;

/**
 * A store of several parts. The part of a subject is the digit that its name ends with. Each part can be down or held up; a
 * group over several parts is then answered as far as the others decide it.
 */
class PartedStore extends ForwardingLimitStore {

    private final Set<Integer> down = ConcurrentHashMap.newKeySet();
    private final Map<Integer, CountDownLatch> held = new ConcurrentHashMap<>();
    private final Map<Integer, Integer> moved = new ConcurrentHashMap<>();
    private final Map<Integer, AtomicInteger> calls = new ConcurrentHashMap<>();
    private final AtomicInteger mixedGroups = new AtomicInteger();
    private final Set<String> unusable = ConcurrentHashMap.newKeySet();
    private volatile boolean namesParts = true;

    PartedStore() {
        super(new MemoryLimitStore());
    }

    void down(int part, boolean is) {
        if (is) {
            down.add(part);
        } else {
            down.remove(part);
        }
    }

    /** Holds up calls of the part until the latch is open. */
    void hold(int part, CountDownLatch until) {
        held.put(part, until);
    }

    /** Requests of that subject fail, and their part is named. */
    void unusable(Subject subject) {
        unusable.add(subject.text());
    }

    private boolean isUnusable(Operation operation) {
        return operation.demands().stream()
                .anyMatch(demand -> unusable.contains(demand.key().subject()));
    }

    void namesParts(boolean does) {
        namesParts = does;
    }

    /** Everything in one part is in another from now on. */
    void move(int from, int to) {
        moved.put(from, to);
    }

    /** How many groups have asked that part. */
    int calls(int part) {
        return calls.computeIfAbsent(part, number -> new AtomicInteger()).get();
    }

    /** How many groups held requests of one part only, but not all of the same. */
    int mixedGroups() {
        return mixedGroups.get();
    }

    /** Callers must be able to leave. */
    @Override
    public boolean answersInTime() {
        return false;
    }

    @Override
    public int part(StateKey key) {
        int part = key.subject().charAt(key.subject().length() - 1) - '0';
        return moved.getOrDefault(part, part);
    }

    @Override
    public List<Answer> decide(List<Operation> group) {
        Set<Integer> all = new HashSet<>();
        Set<Integer> alone = new HashSet<>();
        for (Operation operation : group) {
            Set<Integer> parts = parts(operation);
            all.addAll(parts);
            if (parts.size() == 1) {
                alone.addAll(parts);
            }
        }
        if (alone.size() > 1 || (alone.size() == 1 && all.size() > 1)) {
            mixedGroups.incrementAndGet();
        }
        for (int part : all) {
            calls.computeIfAbsent(part, number -> new AtomicInteger()).incrementAndGet();
            await(held.getOrDefault(part, new CountDownLatch(0)));
        }
        Set<Integer> failing = failing(all);
        Set<Integer> named = new HashSet<>(failing);
        group.stream().filter(this::isUnusable).forEach(operation -> named.addAll(parts(operation)));
        if (named.isEmpty()) {
            return super.decide(group);
        }
        List<Answer> answers = new ArrayList<>();
        for (Operation operation : group) {
            boolean fails = isUnusable(operation) || parts(operation).stream().anyMatch(failing::contains);
            answers.add(fails ? null : super.decide(List.of(operation)).get(0));
        }
        throw new LimitStoreException(
                "parts " + named + " are down", answers, namesParts ? named : Set.of(), new IllegalStateException());
    }

    /** The parts among these that are down now. */
    Set<Integer> failing(Set<Integer> parts) {
        Set<Integer> failing = new HashSet<>(parts);
        failing.retainAll(down);
        return failing;
    }

    Set<Integer> parts(Operation operation) {
        Set<Integer> parts = new HashSet<>();
        operation.demands().forEach(demand -> parts.add(part(demand.key())));
        return parts;
    }

    private static void await(CountDownLatch latch) {
        try {
            latch.await();
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }
}
