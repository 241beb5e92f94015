package dev.ratelimit.caller;

import dev.ratelimit.Subject;
import org.jspecify.annotations.Nullable;

/**
 * An API key that a request came with and that was recognised. Holds nothing of its secret.
 *
 * @param id its name in tables and subjects
 * @param name the name that its owner gave it
 * @param owner the user it belongs to
 * @param tier its tier, or {@code null} for that of its owner
 * @param quota its own quota; {@link Quota#NONE} to share that of its owner
 */
public record ApiKey(
        String id, String name, String owner, @Nullable String tier, Quota quota) {

    /** The subject that it counts as. */
    public Subject subject() {
        return Subject.of(Subject.API_KEY, id);
    }
}
