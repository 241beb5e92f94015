package dev.ratelimit.store.swap;

import dev.ratelimit.store.Operation;
import dev.ratelimit.store.Operation.Demand;
import dev.ratelimit.store.StateKey;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/** Divides a group into parts that have no key in common. */
final class SwapParts {

    private final Map<StateKey, StateKey> towards = new HashMap<>();

    private SwapParts() {}

    static List<SwapPart> of(List<Operation> group) {
        SwapParts sets = new SwapParts();
        for (Operation operation : group) {
            List<Demand> demands = operation.demands();
            StateKey first = sets.root(demands.get(0).key());
            for (int i = 1; i < demands.size(); i++) {
                sets.towards.put(sets.root(demands.get(i).key()), first);
            }
        }
        Map<StateKey, SwapPart> parts = new LinkedHashMap<>();
        for (int place = 0; place < group.size(); place++) {
            Operation operation = group.get(place);
            parts.computeIfAbsent(sets.root(operation.demands().get(0).key()), root -> new SwapPart())
                    .add(place, operation);
        }
        return new ArrayList<>(parts.values());
    }

    private StateKey root(StateKey key) {
        StateKey at = key;
        for (StateKey next = towards.get(at); next != null && !next.equals(at); next = towards.get(at)) {
            at = next;
        }
        towards.put(key, at);
        return at;
    }
}
