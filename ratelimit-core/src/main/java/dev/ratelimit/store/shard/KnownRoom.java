package dev.ratelimit.store.shard;

import dev.ratelimit.Limit;
import dev.ratelimit.store.Answer;
import dev.ratelimit.store.Operation;
import dev.ratelimit.store.Operation.Demand;
import dev.ratelimit.store.Operation.Kind;
import dev.ratelimit.store.StateKey;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.atomic.AtomicReferenceArray;
import org.jspecify.annotations.Nullable;

/**
 * Remembers how much room keys of joint requests had when they were last charged. A request for which all of them are
 * expected to have room is charged without a look at them first. A wrong guess costs a charge that is given back. Safe for
 * use by many threads.
 */
final class KnownRoom {

    private static final int REMEMBERED = 1 << 12;

    /**
     * The room of a key.
     *
     * @param limit the limit that has charged it, whose numbers are those of its row
     */
    private record Room(StateKey key, Limit limit, long remaining) {}

    private final AtomicReferenceArray<@Nullable Room> rooms = new AtomicReferenceArray<>(REMEMBERED);

    /** Whether all requests together are expected to have room. */
    boolean hasRoomFor(List<JointRequest> requests) {
        Map<StateKey, Long> asked = new HashMap<>();
        for (JointRequest request : requests) {
            if (request.hasDebts()) {
                return false;
            }
            for (Demand demand : request.demands()) {
                Room room = rooms.get(place(demand.key()));
                long before = asked.merge(demand.key(), demand.cost(), Long::sum);
                if (room == null
                        || !room.key().equals(demand.key())
                        || !room.limit().equals(demand.limit())
                        || room.remaining() < before) {
                    return false;
                }
            }
        }
        return true;
    }

    /** A joint request was charged. */
    void charged(Operation operation, Answer answer) {
        for (int i = 0; i < operation.demands().size(); i++) {
            Demand demand = operation.demands().get(i);
            if (canBeForeseen(demand)) {
                rooms.set(
                        place(demand.key()),
                        new Room(
                                demand.key(),
                                demand.limit(),
                                answer.verdicts().get(i).remaining()));
            }
        }
    }

    /** A request with penalties must look first, and one with a {@code min-interval} has room for one at most. */
    private static boolean canBeForeseen(Demand demand) {
        return demand.limit().penalties().isEmpty() && !demand.limit().hasMinInterval();
    }

    /** An operation on one shard was answered: what is known of its keys may be no longer true. */
    void observe(Operation operation, Answer answer) {
        for (int i = 0; i < operation.demands().size(); i++) {
            StateKey key = operation.demands().get(i).key();
            Room room = rooms.get(place(key));
            if (room == null || operation.kind() == Kind.PEEK || !room.key().equals(key)) {
                continue;
            }
            Demand demand = operation.demands().get(i);
            boolean charged = operation.kind() == Kind.DECIDE && answer.allowed() && canBeForeseen(demand);
            rooms.set(
                    place(key),
                    charged
                            ? new Room(
                                    key,
                                    demand.limit(),
                                    answer.verdicts().get(i).remaining())
                            : null);
        }
    }

    private static int place(StateKey key) {
        int hash = key.hashCode();
        return (hash ^ hash >>> 16) & (REMEMBERED - 1);
    }
}
