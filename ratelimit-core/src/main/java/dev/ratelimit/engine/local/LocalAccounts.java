package dev.ratelimit.engine.local;

import dev.ratelimit.algorithm.State;
import dev.ratelimit.algorithm.Violations;
import dev.ratelimit.store.GroupArithmetic;
import dev.ratelimit.store.Operation.Demand;
import dev.ratelimit.store.StateKey;
import java.util.Iterator;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/**
 * The accounts of all subjects that were asked for lately. The arithmetic reads and writes the open ones. Not thread-safe:
 * {@link LocalDecisions} holds its lock.
 */
final class LocalAccounts implements GroupArithmetic.Rows {

    private static final int MOST_SUBJECTS = 50_000;
    private static final int MOST_LOOKED_AT = 64;

    private final int instances;

    /** The least recently used first. */
    private final LinkedHashMap<StateKey, LocalAccount> accounts = new LinkedHashMap<>(16, 0.75f, true);

    /**
     * @param instances the number of instances that share the limits
     */
    LocalAccounts(int instances) {
        this.instances = instances;
    }

    LocalAccount of(Demand demand) {
        StateKey key = demand.key();
        LocalAccount known = accounts.get(key);
        if (known != null) {
            return known;
        }
        if (accounts.size() >= MOST_SUBJECTS && !makeRoom()) {
            // Subjects without room share one account per limit.
            return accounts.computeIfAbsent(
                    new StateKey("", demand.limit().name()), all -> new LocalAccount(null, demand.limit(), instances));
        }
        LocalAccount made = new LocalAccount(demand.subject(), demand.limit(), instances);
        accounts.put(key, made);
        return made;
    }

    /** Forgets a subject that was not asked for in a long time and owes nothing. */
    private boolean makeRoom() {
        Iterator<Map.Entry<StateKey, LocalAccount>> eldest = accounts.entrySet().iterator();
        for (int i = 0; i < MOST_LOOKED_AT && eldest.hasNext(); i++) {
            if (eldest.next().getValue().isIdle()) {
                eldest.remove();
                return true;
            }
        }
        return false;
    }

    @Nullable
    LocalAccount find(StateKey key) {
        return accounts.get(key);
    }

    void clear() {
        accounts.clear();
    }

    private LocalAccount open(StateKey key) {
        LocalAccount known = accounts.get(key);
        return known != null ? known : Objects.requireNonNull(accounts.get(new StateKey("", key.limit())));
    }

    @Override
    public State state(StateKey key) {
        return open(key).state();
    }

    @Override
    public void write(StateKey key, State state) {
        open(key).write(state);
    }

    @Override
    public Violations violations(StateKey key) {
        return open(key).violations();
    }

    @Override
    public void write(StateKey key, Violations violations) {
        open(key).write(violations);
    }

    @Override
    public void remove(StateKey key) {
        open(key).write(State.FRESH);
        open(key).write(Violations.NONE);
    }
}
