package dev.ratelimit.store.shard;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.List;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class RendezvousTest {

    private static final int SUBJECTS = 20_000;

    private static List<String> subjects() {
        return IntStream.range(0, SUBJECTS).mapToObj(i -> "user:" + i).toList();
    }

    /** Computed by another program, in another language, from the description alone. */
    @ParameterizedTest
    @CsvSource({
        "user:alice, one",
        "user:bob, two",
        "user:Ärger, two",
        "ip:203.0.113.7, three",
        "user:名前, three",
    })
    void anotherLanguageComputesTheSame(String subject, String shard) {
        List<String> names = List.of("one", "three", "two");

        assertThat(names.get(new Rendezvous(names).of(subject))).isEqualTo(shard);
    }

    @Test
    void everyShardHasItsShareOfTheSubjects() {
        List<String> names = List.of("db1.example/app", "db2.example/app", "db3.example/app", "db4.example/app");
        int[] counts = new int[names.size()];
        Rendezvous rendezvous = new Rendezvous(names);

        subjects().forEach(subject -> counts[rendezvous.of(subject)]++);

        assertThat(counts).hasSize(4);
        for (int count : counts) {
            assertThat(count).isBetween(SUBJECTS / 4 * 9 / 10, SUBJECTS / 4 * 11 / 10);
        }
    }

    @Test
    void subjectsMoveToANewShardAndNowhereElse() {
        List<String> before = List.of("a", "b", "d");
        List<String> after = List.of("a", "b", "c", "d");
        Rendezvous old = new Rendezvous(before);
        Rendezvous longer = new Rendezvous(after);
        int moved = 0;
        for (String subject : subjects()) {
            String from = before.get(old.of(subject));
            String to = after.get(longer.of(subject));
            if (!from.equals(to)) {
                assertThat(to).isEqualTo("c");
                moved++;
            }
        }

        assertThat(moved).isBetween(SUBJECTS / 4 * 9 / 10, SUBJECTS / 4 * 11 / 10);
    }
}
