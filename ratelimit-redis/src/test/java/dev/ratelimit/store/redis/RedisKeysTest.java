package dev.ratelimit.store.redis;

import static org.assertj.core.api.Assertions.assertThat;

import dev.ratelimit.Subject;
import dev.ratelimit.store.StateKey;
import io.lettuce.core.cluster.SlotHash;
import java.nio.charset.StandardCharsets;
import java.util.List;
import org.junit.jupiter.api.Test;

/** Keys are readable, and a subject has all of its keys in one slot. */
class RedisKeysTest {

    private static final List<Subject> SUBJECTS = List.of(
            Subject.user("alice"),
            Subject.user("}{"),
            Subject.user("a}:b"),
            Subject.user("{x}"),
            Subject.ip("2001:db8::1"),
            Subject.user("Zoë"),
            Subject.user("x".repeat(500)));

    private final RedisKeys keys = new RedisKeys("rl:");

    @Test
    void keyIsReadable() {
        assertThat(new String(keys.of(StateKey.of(Subject.user("alice"), "api")), StandardCharsets.UTF_8))
                .isEqualTo("rl:{user:alice}:api");
    }

    @Test
    void allLimitsOfASubjectAreInOneSlot() {
        for (Subject subject : SUBJECTS) {
            int slot = SlotHash.getSlot(keys.of(StateKey.of(subject, "api")));

            for (String limit : List.of("login", "per-day", "a.b_c")) {
                assertThat(SlotHash.getSlot(keys.of(StateKey.of(subject, limit))))
                        .as("%s on %s", subject, limit)
                        .isEqualTo(slot);
            }
        }
    }

    @Test
    void keyOfANameIsTheOneThatItWasMadeOf() {
        for (Subject subject : SUBJECTS) {
            StateKey key = StateKey.of(subject, "api");

            assertThat(keys.parse(keys.of(key))).isEqualTo(key);
        }
    }

    @Test
    void namesOfOthersAreNotOurs() {
        for (String name : List.of("rl:x", "rl:{}:api", "other:{user:alice}:api", "rl:{user:alice", "")) {
            assertThat(keys.parse(name.getBytes(StandardCharsets.UTF_8)))
                    .as(name)
                    .isNull();
        }
    }

    @Test
    void patternTakesThePrefixLiterally() {
        assertThat(new RedisKeys("a*b?[c]:").pattern()).isEqualTo("a\\*b\\?\\[c\\]:{*}:*");
    }
}
