package dev.ratelimit.store;

import dev.ratelimit.Subject;

/**
 * The key of a state: whose count, on which limit.
 *
 * @param subject the text of the subject, in the column {@code user_id}
 * @param limit the name of the limit, in the column {@code resource}
 */
public record StateKey(String subject, String limit) {

    public static StateKey of(Subject subject, String limit) {
        return new StateKey(subject.text(), limit);
    }
}
