package dev.ratelimit.store.postgresql.admission;

import java.util.ArrayList;
import java.util.List;
import java.util.function.Function;

/**
 * All that the text of an admission statement depends on.
 *
 * @param fragments those of the algorithms in the group
 * @param keys how the keys are passed
 * @param lookup how the limit of a row is found, where limits differ in a number that rows do not hold
 * @param intervals whether a limit has a {@code min-interval}
 */
public record AdmissionShape(List<AdmissionFragment> fragments, Keys keys, Lookup lookup, boolean intervals) {

    public AdmissionShape {
        fragments = List.copyOf(fragments);
    }

    public enum Keys {
        /** One key, as plain parameters. */
        ONE,
        /** Keys of one limit, whose numbers are passed once. */
        OF_ONE_LIMIT,
        /** Keys of several limits, whose numbers are passed as arrays. */
        OF_SEVERAL
    }

    public enum Lookup {
        /** No lookup: they do not differ. */
        NONE,
        /** All limits of the group are of different capacity. */
        BY_CAPACITY,
        BY_NAME_AND_CAPACITY
    }

    /** The columns that hold the counts, each once. */
    public List<String> columns() {
        List<String> columns = new ArrayList<>();
        for (AdmissionFragment fragment : fragments) {
            for (String column : fragment.columns()) {
                if (!columns.contains(column)) {
                    columns.add(column);
                }
            }
        }
        return columns;
    }

    boolean inWindows() {
        return fragments.stream().anyMatch(AdmissionFragment::inWindows);
    }

    /** The expression of each fragment, for the rows of its algorithm. */
    String each(String algorithm, Function<AdmissionFragment, String> expression) {
        List<String> expressions = fragments.stream().map(expression).toList();
        if (expressions.stream().distinct().count() == 1) {
            return expressions.get(0);
        }
        StringBuilder choice = new StringBuilder("CASE ").append(algorithm);
        for (int i = 0; i < expressions.size(); i++) {
            choice.append("\n    WHEN '")
                    .append(fragments.get(i).algorithm())
                    .append("' THEN ")
                    .append(expressions.get(i));
        }
        return choice.append(" END").toString();
    }
}
