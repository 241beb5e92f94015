package dev.ratelimit.store.shard;

import dev.ratelimit.store.LimitStore;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/**
 * One of the stores, with the name that decides which subjects are its own.
 *
 * @param name stays the same if the database gets another address
 * @param tables the lists of shards; {@code null} if the shards never change
 */
public record Shard(String name, LimitStore store, @Nullable ShardTables tables) {

    private static final Pattern NAME = Pattern.compile("[\\x21-\\x7e]{1,200}");

    /** One of shards that never change. */
    public Shard(String name, LimitStore store) {
        this(name, store, null);
    }

    public Shard {
        if (!NAME.matcher(name).matches()) {
            throw new IllegalArgumentException(
                    "a shard is called '" + name + "'; write 1 to 200 ASCII characters without blanks");
        }
    }
}
