package dev.ratelimit.data;

import static java.time.Duration.ofHours;
import static java.time.Duration.ofMinutes;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.tuple;

import dev.ratelimit.Limit;
import dev.ratelimit.LimitRequest;
import dev.ratelimit.Subject;
import dev.ratelimit.Window;
import dev.ratelimit.admin.ChangeLog;
import dev.ratelimit.admin.Inquiry;
import dev.ratelimit.admin.NewApiKey;
import dev.ratelimit.admin.RateLimitAdmin;
import dev.ratelimit.algorithm.Algorithms;
import dev.ratelimit.audit.report.AuditDecision;
import dev.ratelimit.caller.Quota;
import dev.ratelimit.engine.StoreRateLimiter;
import dev.ratelimit.gate.Exemptions;
import dev.ratelimit.gate.Gate;
import dev.ratelimit.gate.Subjects;
import dev.ratelimit.operate.BlockView;
import dev.ratelimit.operate.ChangeView;
import dev.ratelimit.operate.InstanceStatus;
import dev.ratelimit.operate.LimitView;
import dev.ratelimit.operate.Operations;
import dev.ratelimit.operate.PenaltyView;
import dev.ratelimit.operate.RuleView;
import dev.ratelimit.operate.Steering;
import dev.ratelimit.operate.SubjectView;
import dev.ratelimit.operate.UnavailableException;
import dev.ratelimit.operate.VersionView;
import dev.ratelimit.operate.VersionView.Authorship;
import dev.ratelimit.operate.VersionView.Difference.ChangedProperty;
import java.time.Instant;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.springframework.dao.DataAccessException;

/** All that an operator sees and does, on a real database. */
abstract class OperationsContract extends DataContract {

    private Operations operations;
    private Steering steering;

    @BeforeEach
    void openOperations() {
        operations = operations();
        steering = operations.steer("olga", "launch day");
    }

    private Operations operations() {
        return operations(admin);
    }

    private Operations operations(RateLimitAdmin on) {
        return new Operations(
                on,
                new Operations.Services(
                        null, null, null, () -> new InstanceStatus(null, null, null, null, List.of()), "/shop"),
                clock);
    }

    private static LimitView.Property property(LimitView limit, String name) {
        return limit.properties().stream()
                .filter(property -> property.name().equals(name))
                .findFirst()
                .orElseThrow();
    }

    private static SubjectView.Standing on(SubjectView subject, String limit) {
        return subject.limits().stream()
                .filter(standing -> standing.limit().equals(limit))
                .findFirst()
                .orElseThrow();
    }

    // Limits

    @Test
    void everyPropertyOfALimitSaysWhereItComesFrom() {
        Instant until = clock.instant().plus(ofHours(1));
        VersionView stored = steering.setLimit("standard", Map.of("max-requests", "50"), until);

        LimitView standard = operations.limit("standard");
        LimitView small = operations.limit("small");

        assertThat(stored.inForce()).isTrue();
        assertThat(standard.enabled()).isTrue();
        assertThat(standard.sentence()).contains("50");
        assertThat(property(standard, "max-requests").value()).isEqualTo("50");
        assertThat(property(standard, "max-requests").source().version()).isEqualTo(1);
        assertThat(property(standard, "max-requests").source().change().by()).isEqualTo("olga");
        assertThat(property(standard, "max-requests").source().change().reason())
                .isEqualTo("launch day");
        assertThat(property(standard, "max-requests").source().change().until()).isEqualTo(until);
        assertThat(property(standard, "window").source().from()).isEqualTo("configuration");
        assertThat(property(small, "max-requests").value()).isEqualTo("2");
        assertThat(property(small, "max-requests").source().limit()).isNull();
        assertThat(property(small, "window").value()).isEqualTo("1h");
        assertThat(property(small, "window").source().limit()).isEqualTo("standard");
        assertThat(operations.limit("nowhere")).isNull();
    }

    @Test
    void blockOfAnAddressIsFound() {
        assertThat(operations.addressBlock("203.0.113.7")).isNull();
        steering.blockAddress("203.0.113.7", null);
        assertThat(operations.addressBlock("203.0.113.7").by()).isEqualTo("olga");
        steering.unblockAddress("203.0.113.7");
        assertThat(operations.addressBlock("203.0.113.7")).isNull();
    }

    @Test
    void aBlockCoversTheClientOfAnAddress() {
        Operations byNetwork = byNetwork();
        Steering olga = byNetwork.steer("olga", "an attack");

        VersionView block = olga.blockAddress("2001:db8::7", null);

        assertThat(block.properties()).containsEntry("addresses", "2001:db8:0:0:0:0:0:0/64");
        assertThat(byNetwork.addressBlock("2001:db8::8")).isNotNull();
        assertThat(byNetwork.addressBlock("2001:db8::7/128").subject()).isEqualTo("ip:2001:db8:0:0:0:0:0:0/64");
        assertThat(byNetwork
                        .explain(Inquiry.of("GET", "/x").from("2001:db8::9"))
                        .outcome())
                .isEqualTo("blocked");
        olga.unblockAddress("2001:db8::9");
        assertThat(byNetwork.addressBlock("2001:db8::7")).isNull();
        assertThat(olga.blockAddress("2001:db8::7/128", null).properties())
                .containsEntry("addresses", "2001:db8:0:0:0:0:0:7/128");
    }

    @Test
    void anAddressIsFoundShownAndResetAsItIsCounted() {
        Operations byNetwork = byNetwork();
        String counted = "ip:2001:db8:0:0:0:0:0:0/64";
        limiter.decide(LimitRequest.of(Subject.ofText(counted), "small").cost(2));

        for (String written : List.of("2001:db8::7", "ip:2001:DB8::7", "2001:db8::/64", "ip:2001:db8::/64")) {
            assertThat(byNetwork.searchSubjects(written, 10)).as(written).containsExactly(counted);
            assertThat(byNetwork.meant(written)).as(written).isEqualTo(counted);
        }
        assertThat(on(byNetwork.subject("ip:2001:db8::9"), "small").outcome()).isEqualTo("throttled");
        assertThat(byNetwork.meant("1234")).isEqualTo("user:1234");

        byNetwork.steer("olga", "a mistake").reset("ip:2001:db8::9", "small");
        assertThat(limiter.peek(Subject.ofText(counted), "small").allowed()).isTrue();
    }

    /** As in an application: the addresses of an IPv6 network count as one client. */
    private Operations byNetwork() {
        Gate gate = new Gate(policies, policies.accounts(), Exemptions.NONE, new Subjects(64), null, clock);
        return operations(new RateLimitAdmin(policies, limiter, gate));
    }

    @Test
    void aTrialIsShownBesideTheLiveNumbers() {
        steering.setLimit("standard", Map.of("candidate.max-requests", "3"), null);

        LimitView limit = operations.limit("standard");

        assertThat(limit.sentence()).contains("10");
        assertThat(limit.trial().sentence()).contains("3");
        assertThat(operations.limit("small").trial()).as("inherited").isNotNull();
    }

    @Test
    void historyAndDifference() {
        steering.setLimit("standard", Map.of("max-requests", "50"), null);
        clock.move(ofMinutes(1));
        operations.steer("pat", "too much").setLimit("standard", Map.of("max-requests", "40", "window", "2h"), null);

        assertThat(operations.limitHistory("standard"))
                .extracting(
                        VersionView::version,
                        VersionView::inForce,
                        version -> version.change().by())
                .containsExactly(tuple(2, true, "pat"), tuple(1, false, "olga"));
        assertThat(operations.limitDifference("standard", 1, 2).properties())
                .containsExactly(
                        new ChangedProperty("max-requests", "50", "40"), new ChangedProperty("window", "1h", "2h"));
        assertThat(operations.limitDifference("standard", 0, 1).properties())
                .containsExactly(new ChangedProperty("max-requests", "10", "50"));
        assertThatThrownBy(() -> operations.limitDifference("standard", 1, 7))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessage("limit 'standard' has no version 7; name one of [1, 2]");

        steering.rollBackLimit("standard", 1, null);
        assertThat(capacity(policies, "standard")).isEqualTo(50);
        steering.removeLimit("standard");
        assertThat(capacity(policies, "standard")).isEqualTo(10);
    }

    @Test
    void anInvalidLimitIsRefusedByPropertyValueAndRemedy() {
        assertThatThrownBy(() -> steering.setLimit("standard", Map.of("max-requests", "many"), null))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageContaining("limit 'standard'")
                .hasMessageContaining("max-requests is 'many'")
                .hasMessageContaining("write a whole number");
        assertThatThrownBy(() -> steering.setLimit("standard", Map.of(), null))
                .hasMessage("no property of limit 'standard' is given; write at least one, such as max-requests: 100");
        assertThat(operations.limitHistory("standard")).isEmpty();
    }

    @Test
    void switchesOffAndOn() {
        steering.switchLimit("small", false, null);
        assertThat(operations.limit("small").enabled()).isFalse();
        assertThat(operations.limit("standard").enabled()).isTrue();
        steering.switchLimit("small", true, null);
        assertThat(operations.limit("small").enabled()).isTrue();

        steering.switchAll(false, clock.instant().plus(ofMinutes(5)));
        assertThat(operations.isEnabled()).isFalse();
        assertThat(operations.limit("standard").enabled()).isFalse();
        assertThat(operations.limitHistory("*")).hasSize(1);
        steering.switchAll(true, null);
        assertThat(operations.isEnabled()).isTrue();
    }

    @Test
    void rulesInTheOrderOfEvaluation() {
        steering.blockAddress("203.0.113.0/24", clock.instant().plus(ofHours(1)));
        steering.switchRule("tenants", false, null);

        assertThat(operations.rules())
                .extracting(RuleView::position, RuleView::name, RuleView::enabled)
                .containsExactly(
                        tuple(1, "blocked:203.0.113.0/24", true),
                        tuple(2, "everything", true),
                        tuple(null, "tenants", false));
        RuleView block = operations.rule("blocked:203.0.113.0/24");
        assertThat(block.properties()).containsEntry("action", "block").containsEntry("addresses", "203.0.113.0/24");
        assertThat(block.source().change().by()).isEqualTo("olga");
        assertThat(operations.rule("everything").source().from()).isEqualTo("configuration");

        steering.switchRule("tenants", true, null);
        assertThat(operations.rule("tenants").enabled()).isTrue();
    }

    @Test
    void aBlockedAddressIsRejectedUntilTheBlockEnds() {
        steering.blockAddress("203.0.113.7", clock.instant().plus(ofHours(1)));
        Inquiry attacker = Inquiry.of("GET", "/").from("203.0.113.7").user("mallory");

        assertThat(operations.explain(attacker).outcome()).isEqualTo("blocked");
        assertThat(operations.explain(attacker.from("203.0.113.8")).outcome()).isEqualTo("allowed");
        steering.unblockAddress("203.0.113.7");
        assertThat(operations.explain(attacker).outcome()).isEqualTo("allowed");
        assertThatThrownBy(() -> steering.unblockAddress("203.0.113.7"))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessage("the address 203.0.113.7/32 is not blocked; no address is");
        steering.blockAddress("203.0.113.0/24", null);
        assertThatThrownBy(() -> steering.unblockAddress("203.0.113.7"))
                .hasMessage("the address 203.0.113.7/32 is not blocked; write one of 203.0.113.0/24");
        assertThatThrownBy(() -> steering.blockAddress("203.0.113.7/24", null))
                .hasMessageContaining("write 203.0.113.0/24");
    }

    // Subjects

    @Test
    void aSubjectStandsSomewhereOnEveryLimitAndLookingChargesNothing() {
        limiter.decide(ALICE, "standard");
        limiter.decide(ALICE, "small");

        SubjectView first = operations.user("alice");
        SubjectView alice = operations.user("alice");

        assertThat(alice).isEqualTo(first);
        assertThat(alice.subject()).isEqualTo("user:alice");
        assertThat(alice.tier()).isEqualTo("free");
        assertThat(alice.block()).isNull();
        assertThat(alice.limits()).extracting(SubjectView.Standing::limit).contains("standard", "small");
        assertThat(on(alice, "standard").outcome()).isEqualTo("allowed");
        assertThat(on(alice, "standard").count().used()).isEqualTo(1);
        assertThat(on(alice, "standard").count().capacity()).isEqualTo(10);
        assertThat(on(alice, "standard").count().remaining()).isEqualTo(9);
        assertThat(on(alice, "standard").lastRequestAt()).isEqualTo(clock.instant());
    }

    @Test
    void aSubjectWithoutStateIsShownOnTheLimitsThatWouldCountIt() {
        SubjectView bob = operations.user("bob");

        assertThat(on(bob, "standard").count().used()).isZero();
        assertThat(on(bob, "standard").lastRequestAt()).isNull();
    }

    @Test
    void subjectsOfSeveralPartsAreShownWithTheirFirst() {
        Subject both = Subject.user("alice").and("ip", "192.0.2.1");
        limiter.decide(both, "small");
        limiter.decide(Subject.user("alicette"), "small");

        assertThat(operations.user("alice").limits())
                .extracting(SubjectView.Standing::subject)
                .contains(both.text())
                .doesNotContain("user:alicette");
    }

    /** They are counted by a name that nobody has proved to have. */
    @Test
    void failedLoginsAreShownWithTheUserAndReset() {
        Subject login = Subject.of("name", "alice").and("ip", "192.0.2.1");
        limiter.decide(LimitRequest.of(login, "small").cost(2));
        limiter.decide(Subject.of("name", "alice"), "standard");
        limiter.decide(
                login,
                Limit.named("small:known")
                        .algorithm(Algorithms.atMost(1, Window.of(ofHours(1))))
                        .build());

        SubjectView alice = operations.user("Alice");
        assertThat(alice.limits().stream().filter(standing -> standing.subject().equals(login.text())))
                .singleElement()
                .satisfies(standing -> {
                    assertThat(standing.limit()).isEqualTo("small");
                    assertThat(standing.outcome()).isEqualTo("throttled");
                });
        assertThat(operations.searchSubjects("ALI", 10)).containsExactly("name:alice", login.text());

        steering.resetAll("user:Alice");
        assertThat(limiter.peek(login, "small").allowed()).isTrue();
        assertThat(operations.user("alice").limits())
                .extracting(SubjectView.Standing::subject)
                .containsOnly("user:alice");
    }

    @Test
    void namesAreFoundAsPeopleWriteThem() {
        limiter.decide(Subject.user("alice+test@example.com"), "small");

        assertThat(operations.searchSubjects("alice+t", 10)).containsExactly("user:alice%2Btest@example.com");
        assertThat(operations.searchSubjects("user:alice+t", 10)).containsExactly("user:alice%2Btest@example.com");
        assertThat(operations.searchSubjects("user:alice%2Bt", 10)).containsExactly("user:alice%2Btest@example.com");
    }

    @Test
    void aPenaltyHasAnEndAndCanBeCleared() {
        steering.setLimit("small", Map.of("penalties", "1 -> 10m, 2 -> forever"), null);
        limiter.decide(LimitRequest.of(ALICE, "small").cost(2));
        limiter.decide(ALICE, "small");
        clock.move(ofMinutes(1));

        SubjectView.Standing standing = on(operations.user("alice"), "small");
        assertThat(standing.outcome()).isEqualTo("blocked");
        assertThat(standing.penalty().active()).isTrue();
        assertThat(standing.penalty().violations()).isEqualTo(1);
        assertThat(standing.penalty().until()).isEqualTo(clock.instant().plus(ofMinutes(9)));
        assertThat(standing.penalty().left()).isEqualTo("9m");
        assertThat(operations.penalties(10))
                .extracting(PenaltyView::subject, PenaltyView::limit, PenaltyView::left)
                .containsExactly(tuple("user:alice", "small", "9m"));

        steering.clearPenalty("user:alice", "small");
        assertThat(on(operations.user("alice"), "small").outcome()).isEqualTo("allowed");
        assertThat(operations.penalties(10)).isEmpty();
    }

    @Test
    void resetOnAllLimits() {
        limiter.decide(ALICE, "standard");
        limiter.decide(ALICE, "small");
        limiter.decide(Subject.user("bob"), "small");

        assertThat(steering.resetAll("user:alice")).containsExactlyInAnyOrder("standard", "small");

        assertThat(on(operations.user("alice"), "standard").count().used()).isZero();
        assertThat(on(operations.user("bob"), "small").count().used()).isEqualTo(1);
    }

    @Test
    void resetOnAllLimitsIsOneChange() {
        limiter.decide(ALICE, "standard");
        limiter.decide(ALICE.and("ip", "192.0.2.1"), "small");

        steering.resetAll("user:alice");

        assertThat(changes()).containsExactly("reset subject user:alice");
        assertThat(operations.changes(ChangeLog.Query.newest(1)).get(0).after())
                .isEqualTo("{\"limit\": \"small, standard\"}");
        assertThat(rowsWithState()).isEmpty();
        assertThat(operations.user("alice").limits())
                .allSatisfy(standing -> assertThat(standing.count().used()).isZero());
    }

    @Test
    void nothingIsResetIfTheResetCannotBeLogged() {
        steering.setLimit("small", Map.of("penalties", "1 -> 10m"), null);
        limiter.decide(LimitRequest.of(ALICE, "small").cost(2));
        limiter.decide(ALICE, "small");
        database.execute("ALTER TABLE %srate_limit_admin_logs RENAME TO gone");

        assertThatThrownBy(() -> steering.reset("user:alice", "small")).isInstanceOf(DataAccessException.class);
        assertThatThrownBy(() -> steering.resetAll("user:alice")).isInstanceOf(DataAccessException.class);
        assertThatThrownBy(() -> admin.penalties().note(ALICE, "small", Map.of("ticket", "7"), OPS))
                .isInstanceOf(DataAccessException.class);

        assertThat(operations.penalties(10)).extracting(PenaltyView::subject).containsExactly("user:alice");
        assertThat(database.query("SELECT metadata FROM %srate_limit_penalties").get(0))
                .containsEntry("metadata", null);
        assertThat(database.count("rate_limits")).isEqualTo(1);
    }

    @Test
    void aTypingErrorInTheNameOfALimitIsNoSuccess() {
        limiter.decide(ALICE, "small");

        assertThatThrownBy(() -> steering.reset("user:alice", "smal"))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessage(
                        "no limit 'smal' is in force, and none of that name has counted user:alice; name one of small,"
                                + " standard");
        assertThatThrownBy(() -> steering.resetAll("session:7"))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessage("no limit is known to count 'session:7'; name the limit that does");
        assertThat(changes()).isEmpty();
    }

    @Test
    void aLimitThatIsGoneCanStillBeReset() {
        steering.setLimit("passing", window(5), null);
        limiter.decide(ALICE, "passing");
        steering.removeLimit("passing");

        steering.reset("user:alice", "passing");

        assertThat(rowsWithState()).isEmpty();
    }

    /** A reset may leave an empty row. */
    private List<Map<String, Object>> rowsWithState() {
        return database.query("SELECT user_id, resource FROM %srate_limits WHERE algorithm <> ''");
    }

    @Test
    void aSubjectWithManyRowsTakesFewCallsOfTheStore() {
        for (int i = 0; i < 250; i++) {
            limiter.decide(ALICE.and("ip", "192.0.2." + i), "small");
        }
        StoreRateLimiter counted = (StoreRateLimiter) limiter;
        long before = counted.status().calls().count();

        SubjectView alice = operations.user("alice");

        assertThat(alice.limits().stream().filter(standing -> standing.subject().contains("+")))
                .hasSize(250)
                .allSatisfy(standing -> assertThat(standing.count().used()).isEqualTo(1));
        assertThat(counted.status().calls().count() - before).isLessThanOrEqualTo(3);
    }

    @Test
    void blocksAndUnblocksAUser() {
        steering.blockUser("mallory", clock.instant().plus(ofHours(2)));
        steering.blockUser("trudy", null);

        SubjectView mallory = operations.user("mallory");
        assertThat(mallory.block().left()).isEqualTo("2h");
        assertThat(mallory.block().reason()).isEqualTo("launch day");
        assertThat(operations.user("trudy").block().left()).isEqualTo("forever");
        assertThat(operations.user("trudy").block().until()).isNull();

        steering.unblockUser("mallory");
        assertThat(operations.user("mallory").block()).isNull();
    }

    @Test
    void aUserWhoIsNotBlockedCannotBeUnblocked() {
        assertThatThrownBy(() -> steering.unblockUser("alice"))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessage("user 'alice' is not blocked");
        assertThat(operations.changes(ChangeLog.Query.newest(10))).isEmpty();
    }

    @Test
    void invisibleCharactersInANameEvadeNoBlock() {
        for (String name : List.of(
                "mal\u200clory", "mal\u200blory", "mal\u00adlory", "\u202emallory", "\ud83d\udc69\u200d\ud83d\udd2c")) {
            steering.blockUser(name, null);
            assertThat(operations.user(name).block().left()).isEqualTo("forever");
            String escaped = Subject.user(name).text();
            assertThat(escaped).contains("%");
            assertThat(operations.subject(escaped).user()).isEqualTo(name);
            assertThat(operations.blocks(10)).extracting(BlockView::subject).containsExactly(escaped);
            steering.unblockUser(name);
        }
        assertThatThrownBy(() -> steering.blockUser("a\u0000b", null)).hasMessageContaining("no database can store");
        assertThatThrownBy(() -> operations.steer("olga", "launch\u202eday")).hasMessageContaining("control character");
    }

    @Test
    void allBlocksAreListed() {
        steering.blockAddress("203.0.113.0/24", clock.instant().plus(ofHours(1)));
        steering.blockAddress("198.51.100.7", null);
        steering.blockUser("mallory", clock.instant().plus(ofHours(2)));
        admin.quotas().set("alice", "premium", Quota.NONE, OPS);

        assertThat(operations.blocks(10))
                .extracting(BlockView::subject, BlockView::reason, BlockView::by, BlockView::left)
                .containsExactlyInAnyOrder(
                        tuple("ip:203.0.113.0/24", "launch day", "olga", "1h"),
                        tuple("ip:198.51.100.7", "launch day", "olga", "forever"),
                        tuple("user:mallory", "launch day", "olga", "2h"));
        assertThat(operations.blocks(1)).hasSize(1);
    }

    @Test
    void anAddressShowsItsBlockAndThatOfARangeAroundIt() {
        assertThat(operations.address("203.0.113.7").block()).isNull();
        steering.blockAddress("203.0.113.0/24", null);
        assertThat(operations.address("203.0.113.7").block().subject()).isEqualTo("ip:203.0.113.0/24");
        steering.blockAddress("203.0.113.7", null);
        assertThat(operations.subject("ip:203.0.113.7").block().subject()).isEqualTo("ip:203.0.113.7");
        assertThat(operations.address("203.0.114.7").block()).isNull();
    }

    @Test
    void theBlockOfALongNameIsShown() {
        String name = "m".repeat(300);
        steering.blockUser(name, null);
        assertThat(operations.user(name).block().left()).isEqualTo("forever");
        String listed = operations.blocks(10).get(0).subject();
        assertThat(operations.subject(listed).user()).isEqualTo(name);
    }

    @Test
    void anInvalidAddressIsNoSubject() {
        for (String text : List.of("ip:1.2.3.4/33", "ip:999.1.1.1", "ip:2001:db8::7/129")) {
            assertThatThrownBy(() -> operations.subject(text))
                    .as(text)
                    .isInstanceOf(IllegalArgumentException.class)
                    .hasMessageContaining("the address is '");
            assertThatThrownBy(() -> steering.resetAll(text)).as(text).hasMessageContaining("the address is '");
        }
        assertThat(operations.subject("ip:unknown").subject()).isEqualTo("ip:unknown");
    }

    @Test
    void namesThatRequestsAreCountedUnderAreExplained() {
        assertThat(operations.derivation("quota:day")).contains("a part of the quota");
        assertThat(operations.derivation("standard:address")).contains("a multiple of limit 'standard'");
        assertThat(operations.derivation("nowhere")).isNull();
    }

    @Test
    void rollbackToTheConfigurationIsExplained() {
        assertThatThrownBy(() -> steering.rollBackLimit("standard", 0, null))
                .hasMessageContaining("to return to the configuration, use DELETE");
        assertThatThrownBy(() -> operations.end("-1h", null)).hasMessageContaining("duration is '-1h'");
    }

    @Test
    void apiKeysAreShownWithoutSecretsAndRevoked() {
        var issued = admin.keys().create(NewApiKey.of("build", "alice"), OPS);
        limiter.decide(Subject.of("api-key", issued.id()), "small");

        assertThat(operations.user("alice").apiKeys())
                .singleElement()
                .satisfies(key -> assertThat(key.state()).isEqualTo("active"));
        SubjectView key = operations.apiKey(issued.id());
        assertThat(key.user()).isEqualTo("alice");
        assertThat(on(key, "small").count().used()).isEqualTo(1);
        assertThat(key.toString()).doesNotContain(issued.secret().substring(16));

        steering.revokeKey(issued.id());
        assertThat(operations.user("alice").apiKeys().get(0).state()).isEqualTo("revoked");
        assertThatThrownBy(() -> steering.revokeKey("nothing")).hasMessage("there is no API key with the id 'nothing'");
    }

    @Test
    void searchesSubjectsByPrefix() {
        for (String name : List.of("alice", "alicette", "bob", "al%", "älva")) {
            limiter.decide(Subject.user(name), "small");
        }
        limiter.decide(Subject.ip("192.0.2.1"), "small");

        assertThat(operations.searchSubjects("user:alic", 10)).containsExactly("user:alice", "user:alicette");
        assertThat(operations.searchSubjects("ali", 1)).containsExactly("user:alice");
        assertThat(operations.searchSubjects("192.", 10)).containsExactly("ip:192.0.2.1");
        assertThat(operations.searchSubjects("user:ä", 10)).containsExactly("user:älva");
        assertThat(operations.searchSubjects("user:_", 10)).isEmpty();
        assertThat(operations.user("al%").limits().get(0).subject()).isEqualTo("user:al%25");
        assertThatThrownBy(() -> operations.searchSubjects(" ", 10)).hasMessageContaining("is empty");
        assertThatThrownBy(() -> operations.searchSubjects("a", 5_000)).hasMessageContaining("from 1 to 1000");
    }

    // Explain

    @Test
    void outcomesAreSpelledAsInTheAuditTrail() {
        assertThat(operations
                        .explain(Inquiry.of("GET", "/").apiKey("no-such-key"))
                        .outcome())
                .isEqualTo("unknown_api_key")
                .isEqualTo(AuditDecision.UNKNOWN_API_KEY.keyword());
    }

    @Test
    void explainsAPastedCurlLine() {
        var explained =
                operations.explainCurl("curl -s -u alice:secret 'https://example.com/api/games?page=2'", "192.0.2.1");

        assertThat(explained.request().method()).isEqualTo("GET");
        assertThat(explained.request().path()).isEqualTo("/api/games");
        assertThat(explained.request().user()).isEqualTo("alice");
        assertThat(explained.outcome()).isEqualTo("allowed");
        assertThat(explained.rules().get(0).limits().get(0).count().used()).isZero();
        assertThat(explained.toString()).doesNotContain("secret");
        assertThat(operations
                        .explainCurl("curl https://example.com/shop/tenants/7", null)
                        .request()
                        .path())
                .as("without the context path")
                .isEqualTo("/tenants/7");
    }

    // Changes

    private List<String> changes() {
        return operations.changes(ChangeLog.Query.newest(100)).stream()
                .map(change -> change.action() + " " + change.kind() + " " + change.name())
                .toList();
    }

    @Test
    void everyChangeIsLoggedTheNewestFirst() {
        steering.setLimit("small", Map.of("penalties", "1 -> 10m"), null);
        steering.rollBackLimit("small", 1, null);
        steering.switchLimit("small", false, null);
        steering.switchLimit("small", true, null);
        steering.removeLimit("small");
        steering.switchAll(false, null);
        steering.switchAll(true, null);
        steering.blockAddress("203.0.113.7", null);
        steering.unblockAddress("203.0.113.7");
        steering.switchRule("everything", false, null);
        steering.switchRule("everything", true, null);
        steering.blockUser("mallory", null);
        steering.unblockUser("mallory");
        admin.quotas().set("alice", "premium", Quota.NONE, OPS);
        admin.quotas().remove("alice", OPS);
        var issued = admin.keys().create(NewApiKey.of("build", "alice"), OPS);
        steering.revokeKey(issued.id());
        limiter.decide(ALICE, "small");
        steering.reset("user:alice", "small");
        steering.clearPenalty("user:alice", "small");

        assertThat(changes())
                .containsExactly(
                        "clear-penalty subject user:alice",
                        "reset subject user:alice",
                        "revoke api-key " + issued.id(),
                        "create api-key " + issued.id(),
                        "remove quota alice",
                        "set quota alice",
                        "unblock user mallory",
                        "block user mallory",
                        "switch-on rule everything",
                        "switch-off rule everything",
                        "remove rule blocked:203.0.113.7/32",
                        "set rule blocked:203.0.113.7/32",
                        "switch-on limit *",
                        "switch-off limit *",
                        "remove limit small",
                        "switch-on limit small",
                        "switch-off limit small",
                        "roll-back limit small",
                        "set limit small");
        assertThat(database.contents()).doesNotContain(issued.secret());
    }

    @Test
    void aChangeIsLoggedWithItsAuthorReasonExpiryAndBothStates() {
        Instant until = clock.instant().plus(ofHours(1));
        steering.setLimit("standard", Map.of("max-requests", "50"), until);
        steering.blockUser("mallory", until);
        operations.steer("pat", "it was me").unblockUser("mallory");

        List<ChangeView> changes = operations.changes(ChangeLog.Query.newest(10));

        assertThat(changes.get(2).change()).isEqualTo(new Authorship("olga", clock.instant(), until, "launch day"));
        assertThat(changes.get(2).before()).contains("\"max-requests\": \"10\"").contains("\"window\": \"1h\"");
        assertThat(changes.get(2).after()).contains("\"max-requests\": \"50\"").contains("\"window\": \"1h\"");
        assertThat(changes.get(1).before()).isNull();
        assertThat(changes.get(1).after())
                .isEqualTo("{\"blocked-until\": \"" + until + "\", \"reason\": \"launch day\"}");
        assertThat(changes.get(0).change().by()).isEqualTo("pat");
        assertThat(changes.get(0).before()).isEqualTo(changes.get(1).after());
        assertThat(changes.get(0).after()).isNull();
    }

    @Test
    void changesArePagedAndChosen() {
        steering.blockUser("mallory", null);
        steering.switchAll(false, null);
        steering.unblockUser("mallory");

        ChangeView newest = operations.changes(ChangeLog.Query.newest(1)).get(0);
        assertThat(newest.action()).isEqualTo("unblock");
        assertThat(operations.changes(new ChangeLog.Query(newest.id(), null, null, 10)))
                .extracting(ChangeView::action)
                .containsExactly("switch-off", "block");
        assertThat(operations.changes(new ChangeLog.Query(null, ChangeLog.Kind.USER, "mallory", 10)))
                .extracting(ChangeView::action)
                .containsExactly("unblock", "block");
        assertThatThrownBy(() -> ChangeLog.Query.newest(0)).hasMessageContaining("from 1 to 1000");
    }

    @Test
    void aRefusedChangeLogsNothing() {
        assertThatThrownBy(() -> steering.setLimit("standard", Map.of("max-requests", "many"), null))
                .isInstanceOf(IllegalArgumentException.class);
        assertThatThrownBy(() -> steering.removeLimit("standard")).isInstanceOf(IllegalArgumentException.class);
        assertThatThrownBy(() -> steering.revokeKey("nothing")).isInstanceOf(IllegalArgumentException.class);
        assertThatThrownBy(() -> admin.quotas().set("alice", "premium", Quota.NONE, OPS.until(clock.instant())))
                .hasMessageContaining("leave out until");

        assertThat(changes()).isEmpty();
    }

    /** The row of the log and the row of the change are committed together, or neither is. */
    @Test
    void aChangeThatFailsAfterItWasLoggedLeavesNoEntry() {
        assertThatThrownBy(() -> policies.run(transaction -> {
                    transaction.setBlock("mallory", clock.instant().plus(ofHours(1)), null, "ops");
                    transaction.log(new ChangeLog.Target("block", ChangeLog.Kind.USER, "mallory"), OPS, null, null);
                    throw new IllegalStateException("the connection is lost");
                }))
                .isInstanceOf(IllegalStateException.class);

        assertThat(changes()).isEmpty();
        assertThat(operations.user("mallory").block()).isNull();
    }

    // What is refused

    @Test
    void aChangeNeedsAnAuthorAndAReason() {
        assertThatThrownBy(() -> operations.steer("olga", " "))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessage("the reason is missing; say why you make the change, such as \"launch day\"");
        assertThatThrownBy(() -> operations.steer("olga", null)).hasMessageContaining("the reason is missing");
        assertThatThrownBy(() -> operations.steer("", "why")).hasMessageContaining("the author is missing");
        assertThatThrownBy(() -> operations.steer("olga", "one\ntwo")).hasMessageContaining("line break");
        assertThatThrownBy(() -> operations.steer("olga", "\u001b[31mred")).hasMessageContaining("control character");
        assertThatThrownBy(() -> operations.steer("olga", "x".repeat(501))).hasMessageContaining("at most 500");
    }

    @Test
    void theEndOfAChange() {
        assertThat(operations.end(null, null)).isNull();
        assertThat(operations.end("1h", null)).isEqualTo(clock.instant().plus(ofHours(1)));
        assertThat(operations.end(null, "2999-01-01T00:00:00Z")).isEqualTo("2999-01-01T00:00:00Z");
        assertThatThrownBy(() -> operations.end("soon", null)).hasMessageContaining("write a time such as");
        assertThatThrownBy(() -> operations.end("99999999d", null)).hasMessageContaining("3660d");
        assertThatThrownBy(() -> operations.end("0s", null)).hasMessageContaining("3660d");
        assertThatThrownBy(() -> operations.end(null, "tomorrow")).hasMessageContaining("until is 'tomorrow'");
        assertThatThrownBy(() -> operations.end("1h", "tomorrow")).hasMessageContaining("write one");
    }

    @Test
    void withoutAuditOnlyReportsAreMissing() {
        assertThat(operations.hasReports()).isFalse();
        assertThat(operations.limits()).extracting(LimitView::lastHour).containsOnlyNulls();
        assertThatThrownBy(() -> operations.busiest(ofHours(1), 20))
                .isInstanceOf(UnavailableException.class)
                .hasMessageContaining("ratelimit.store.type");
        assertThatThrownBy(() -> operations.retention())
                .isInstanceOf(UnavailableException.class)
                .hasMessageContaining("ratelimit.store.type");
        assertThatThrownBy(() -> steering.runRetention()).isInstanceOf(UnavailableException.class);
        assertThatThrownBy(() -> steering.backUp())
                .isInstanceOf(UnavailableException.class)
                .hasMessageContaining("nothing to copy");
    }
}
