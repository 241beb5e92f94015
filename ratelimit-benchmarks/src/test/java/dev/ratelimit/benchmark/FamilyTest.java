package dev.ratelimit.benchmark;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.ratelimit.benchmark.load.Spread;
import dev.ratelimit.benchmark.load.Turn;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;

class FamilyTest {

    @Test
    void twoMembersChangeTheirOrderSoThatEachComesFirstEquallyOften() {
        List<String> firsts = new ArrayList<>();
        for (int turn = 0; turn < 8; turn++) {
            firsts.add(Family.order(List.of("a", "b"), turn).get(0));
        }

        assertThat(firsts).containsExactly("a", "b", "b", "a", "a", "b", "b", "a");
    }

    @Test
    void everyMemberComesInEveryPlace() {
        List<String> members = List.of("a", "b", "c");

        assertThat(Family.order(members, 0)).containsExactly("a", "b", "c");
        assertThat(Family.order(members, 1)).containsExactly("b", "c", "a");
        assertThat(Family.order(members, 2)).containsExactly("c", "a", "b");
        assertThat(Family.order(members, 3)).containsExactly("c", "b", "a");
    }

    @Test
    void ratiosArePairedWithinATurn() throws Exception {
        Contender fast = new FixedContender("fast", 10, 200.0, 20.0, 900.0);
        Contender slow = new FixedContender("slow", 40, 100.0, 10.0, 300.0);
        Family family = new Family(fast, slow).ratio("fast/slow", fast, slow, Goal.atLeast(2));
        for (int turn = 0; turn < 3; turn++) {
            family.measure(turn, 0);
        }

        assertThat(family.comparisons())
                .containsExactly(new Comparison(
                        "fast/slow", new Spread(2, 2, 3), Goal.atLeast(2), new Spread(0.25, 0.25, 0.25)));
    }

    @Test
    void turnsInAnotherFamilyAreNotPaired() throws Exception {
        Contender shared = new FixedContender("shared", 1, 10.0, 1000.0);
        Contender first = new FixedContender("first", 1, 5.0);
        Contender second = new FixedContender("second", 1, 500.0);
        Family one = new Family(shared, first).ratio("shared/first", shared, first, Goal.NONE);
        Family other = new Family(shared, second).ratio("shared/second", shared, second, Goal.NONE);
        one.measure(0, 0);
        other.measure(0, 0);

        assertThat(one.comparisons().get(0).value().median()).isEqualTo(2);
        assertThat(other.comparisons().get(0).value().median()).isEqualTo(2);
        assertThat(shared.spread(Turn::perSecond)).isEqualTo(new Spread(505, 10, 1000));
    }

    @Test
    void ofSeveralTheSlowestIsCompared() throws Exception {
        Contender base = new FixedContender("base", Double.NaN, 100.0);
        Contender slow = new FixedContender("slow", 1, 70.0);
        Contender slower = new FixedContender("slower", 1, 60.0);
        Family family = new Family(base, slow, slower)
                .ratio("slowest/base", List.of(slow, slower), base, Turn::perSecond, Goal.NONE);
        family.measure(0, 0);

        assertThat(family.comparisons()).hasSize(1);
        assertThat(family.comparisons().get(0).value().median()).isEqualTo(0.6);
        assertThat(family.comparisons().get(0).databaseTime().isKnown()).isFalse();
    }

    @Test
    void partOfANameLeavesItsRatiosAndThoseTheyNeed() {
        Contender base = new FixedContender("base", 1);
        Contender tiers = new FixedContender("two tiers", 1);
        Contender other = new FixedContender("two limits", 1);
        Family family = new Family(base, tiers, other)
                .ratio("two-tiers/one-limit", tiers, base, Goal.NONE)
                .ratio("two-limits/one-limit", other, base, Goal.NONE);

        assertThat(Family.chosen(List.of(family), "two-tiers")).containsExactly(family);

        assertThat(family.members()).containsExactly(base, tiers);
        assertThat(Family.chosen(List.of(family), "nothing of that name")).isEmpty();
    }

    @Test
    void ratioToAStrangerIsRefused() {
        Contender member = new FixedContender("member", 1);
        Contender stranger = new FixedContender("stranger", 1);

        assertThatThrownBy(() -> new Family(member).ratio("odd", member, stranger, Goal.NONE))
                .hasMessage("odd is not a ratio between members of the family");
    }
}
