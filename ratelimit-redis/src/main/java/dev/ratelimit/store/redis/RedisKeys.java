package dev.ratelimit.store.redis;

import dev.ratelimit.store.StateKey;
import java.nio.charset.StandardCharsets;
import org.jspecify.annotations.Nullable;

/**
 * The names of keys, such as <code>rl:{user:alice}:api</code>. The braces are a hash tag: all limits of a subject are in one
 * slot of a cluster.
 */
final class RedisKeys {

    private final String begin;

    RedisKeys(String prefix) {
        this.begin = prefix + "{";
    }

    byte[] of(StateKey key) {
        return (begin + key.subject() + "}:" + key.limit()).getBytes(StandardCharsets.UTF_8);
    }

    /** A pattern of all keys, for SCAN. */
    String pattern() {
        StringBuilder pattern = new StringBuilder();
        for (int i = 0; i < begin.length(); i++) {
            if ("*?[]\\^-".indexOf(begin.charAt(i)) >= 0) {
                pattern.append('\\');
            }
            pattern.append(begin.charAt(i));
        }
        return pattern.append("*}:*").toString();
    }

    /** The key of that name; {@code null} if it is another's. No name of a limit has a brace. */
    @Nullable
    StateKey parse(byte[] name) {
        String text = new String(name, StandardCharsets.UTF_8);
        int end = text.lastIndexOf("}:");
        return text.startsWith(begin) && end > begin.length()
                ? new StateKey(text.substring(begin.length(), end), text.substring(end + 2))
                : null;
    }
}
