package dev.ratelimit.store;

import dev.ratelimit.Subject;

/**
 * The key of a state: whose count, on which limit.
 *
 * @param subject the text of the subject, in the column {@code user_id}
 * @param limit the name of the limit, in the column {@code resource}
 */
public record StateKey(String subject, String limit) implements Comparable<StateKey> {

    public static StateKey of(Subject subject, String limit) {
        return new StateKey(subject.text(), limit);
    }

    @Override
    public boolean equals(Object other) {
        return other instanceof StateKey key && subject.equals(key.subject) && limit.equals(key.limit);
    }

    @Override
    public int hashCode() {
        return 31 * subject.hashCode() + limit.hashCode();
    }

    /** By subject, then by limit. */
    @Override
    public int compareTo(StateKey other) {
        int bySubject = subject.compareTo(other.subject);
        return bySubject != 0 ? bySubject : limit.compareTo(other.limit);
    }
}
