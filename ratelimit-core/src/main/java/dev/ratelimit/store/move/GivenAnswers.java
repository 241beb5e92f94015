package dev.ratelimit.store.move;

import dev.ratelimit.store.Answer;
import dev.ratelimit.store.LimitStore;
import dev.ratelimit.store.LimitStoreException;
import dev.ratelimit.store.Operation;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * The answers of one store to a group, as far as it gave any.
 *
 * @param answers in the order of the group, {@code null} where an operation was not decided
 * @param failure why some were not decided
 */
record GivenAnswers(
        List<@Nullable Answer> answers, @Nullable RuntimeException failure) {

    /**
     * @param operations in the order of the group, {@code null} where the store is not asked
     */
    static GivenAnswers ask(LimitStore store, List<@Nullable Operation> operations) {
        List<Operation> sent = new ArrayList<>(operations.size());
        List<Integer> places = new ArrayList<>(operations.size());
        for (int i = 0; i < operations.size(); i++) {
            Operation operation = operations.get(i);
            if (operation != null) {
                sent.add(operation);
                places.add(i);
            }
        }
        List<@Nullable Answer> all =
                new ArrayList<@Nullable Answer>(Collections.nCopies(operations.size(), (@Nullable Answer) null));
        if (sent.isEmpty()) {
            return new GivenAnswers(all, null);
        }
        try {
            place(store.decide(sent), places, all);
            return new GivenAnswers(all, null);
        } catch (LimitStoreException e) {
            place(e.answers(), places, all);
            return new GivenAnswers(all, e);
        } catch (RuntimeException e) {
            return new GivenAnswers(all, e);
        }
    }

    private static void place(
            List<? extends @Nullable Answer> given, List<Integer> places, List<@Nullable Answer> all) {
        for (int i = 0; i < given.size(); i++) {
            all.set(places.get(i), given.get(i));
        }
    }
}
