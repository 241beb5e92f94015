package dev.ratelimit.benchmark;

import java.util.ArrayList;
import java.util.Collections;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Random;
import java.util.Set;

/**
 * Measures families in rounds: each of them has one turn in every round, so that its turns are spread over the whole run.
 *
 * @param turns how many each family has
 * @param warmUp seconds for each contender
 * @param seconds of a contender's turn
 */
record Rounds(int turns, double warmUp, double seconds) {

    /** As few as still give a median that repeats. */
    static final int DEFAULT_TURNS = 11;

    static Set<Contender> contenders(List<Family> families) {
        Set<Contender> contenders = new LinkedHashSet<>();
        families.forEach(family -> contenders.addAll(family.members()));
        return contenders;
    }

    void run(List<Family> families) throws Exception {
        Set<Contender> contenders = contenders(families);
        try {
            int number = 0;
            for (Contender contender : contenders) {
                System.out.printf("warming up: %d of %d, %s%n", ++number, contenders.size(), contender);
                contender.warmUp(warmUp);
            }
            List<Family> order = new ArrayList<>(families);
            for (int turn = 0; turn < turns; turn++) {
                // In another order each time: what comes round once a minute, such as autovacuum, must not always meet
                // the same.
                Collections.shuffle(order, new Random(turn));
                number = 0;
                for (Family family : order) {
                    System.out.printf(
                            "turn %d of %d: %d of %d, %s%n",
                            turn + 1, turns, ++number, order.size(), Family.order(family.members(), turn));
                    family.measure(turn, seconds);
                }
            }
        } finally {
            for (Contender contender : contenders) {
                contender.close();
            }
        }
    }
}
