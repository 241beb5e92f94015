package dev.ratelimit.store.postgresql;

import dev.ratelimit.algorithm.Verdict;
import dev.ratelimit.store.Answer;
import dev.ratelimit.store.Operation;
import dev.ratelimit.store.Operation.Demand;
import dev.ratelimit.store.Operation.Kind;
import dev.ratelimit.store.StateKey;
import dev.ratelimit.store.postgresql.PostgresKey.Way;
import dev.ratelimit.store.postgresql.admission.AdmissionFragments;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/**
 * A group by its keys, and how each key is decided. Operations that share a key are decided in the same way, so that their
 * order is kept. Not thread-safe.
 */
final class PostgresGroup {

    private final List<Operation> operations;
    private final Map<StateKey, PostgresKey> keys;
    private final boolean linked;

    PostgresGroup(List<Operation> operations, AdmissionFragments fragments, PostgresDenials denials, long expected) {
        this.operations = operations;
        this.keys = new LinkedHashMap<>(2 * operations.size());
        boolean severalKeys = false;
        for (Operation operation : operations) {
            boolean several = operation.demands().size() > 1;
            severalKeys |= several;
            for (Demand demand : operation.demands()) {
                StateKey key = demand.key();
                PostgresKey asked = keys.get(key);
                if (asked == null) {
                    asked = new PostgresKey(key, demand.limit(), fragments.of(demand.limit()));
                    keys.put(key, asked);
                }
                if (operation.kind() == Kind.DECIDE) {
                    asked.decide(demand, several);
                } else if (operation.kind() == Kind.PEEK) {
                    asked.peek();
                } else {
                    asked.raise(Way.LOCK);
                }
            }
        }
        this.linked = severalKeys;
        keys.values().forEach(key -> key.choose(denials.expected(key.key(), expected)));
        decideTogether();
    }

    /** Decides all keys of an operation in the same way. */
    void decideTogether() {
        boolean changed = linked;
        while (changed) {
            changed = false;
            for (Operation operation : operations) {
                Way way = Way.ADMIT;
                for (Demand demand : operation.demands()) {
                    Way ofKey = key(demand).way();
                    way = ofKey.compareTo(way) > 0 ? ofKey : way;
                }
                for (Demand demand : operation.demands()) {
                    changed |= key(demand).raise(way);
                }
            }
        }
    }

    List<Operation> operations() {
        return operations;
    }

    PostgresKey key(Demand demand) {
        return Objects.requireNonNull(keys.get(demand.key()));
    }

    PostgresKey key(StateKey key) {
        return Objects.requireNonNull(keys.get(key));
    }

    List<PostgresKey> keys(Way way) {
        List<PostgresKey> list = new ArrayList<>(keys.size());
        for (PostgresKey key : keys.values()) {
            if (key.way() == way) {
                list.add(key);
            }
        }
        return list;
    }

    /** Whether it is known beforehand that some keys have to be locked. */
    boolean needsLocks() {
        for (PostgresKey key : keys.values()) {
            if (key.way() == Way.LOCK) {
                return true;
            }
        }
        return false;
    }

    /** Whether an operation has several keys. */
    boolean isLinked() {
        return linked;
    }

    /** Whether each operation was admitted on all its keys or on none. */
    boolean isWhole() {
        for (Operation operation : operations) {
            int admitted = 0;
            for (Demand demand : operation.demands()) {
                admitted += key(demand).isAdmitted() ? 1 : 0;
            }
            if (admitted > 0 && admitted < operation.demands().size()) {
                return false;
            }
        }
        return true;
    }

    /**
     * The answer to an operation that was admitted, or decided by reading; {@code null} if it has to be decided in Java,
     * on locked rows. To be asked in the order of the operations.
     */
    @Nullable
    Answer answer(Operation operation, PostgresReading reading) {
        Way way = Way.ADMIT;
        for (Demand demand : operation.demands()) {
            Way ofKey = key(demand).way();
            way = ofKey.compareTo(way) > 0 ? ofKey : way;
        }
        Answer answer = switch (way) {
            case ADMIT -> admitted(operation);
            case READ -> reading.decide(operation);
            case LOCK -> null;
        };
        if (answer == null) { // later operations on these keys wait for it
            operation.demands().forEach(demand -> key(demand).raise(Way.LOCK));
        }
        return answer;
    }

    private @Nullable Answer admitted(Operation operation) {
        long now = 0;
        List<Verdict> verdicts = new ArrayList<>(operation.demands().size());
        for (Demand demand : operation.demands()) {
            PostgresKey key = key(demand);
            Verdict verdict = key.next(demand);
            if (verdict == null) {
                return null;
            }
            now = Math.max(now, key.now());
            verdicts.add(verdict);
        }
        return new Answer(now, verdicts);
    }
}
