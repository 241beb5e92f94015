package dev.ratelimit.store.shard;

import dev.ratelimit.store.LimitStore;
import java.util.regex.Pattern;

/**
 * One of the stores, with the name that decides which subjects are its own.
 *
 * @param name stays the same if the database gets another address
 */
public record Shard(String name, LimitStore store) {

    private static final Pattern NAME = Pattern.compile("[\\x21-\\x7e]{1,200}");

    public Shard {
        if (!NAME.matcher(name).matches()) {
            throw new IllegalArgumentException(
                    "a shard is called '" + name + "'; write 1 to 200 ASCII characters without blanks");
        }
    }
}
