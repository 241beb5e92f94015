package dev.ratelimit.data;

import static java.time.Duration.ofDays;
import static java.time.Duration.ofHours;
import static java.time.Duration.ofMinutes;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.ratelimit.Decision;
import dev.ratelimit.DecisionListener;
import dev.ratelimit.Limit;
import dev.ratelimit.LimitDecision;
import dev.ratelimit.LimitRequest;
import dev.ratelimit.Outcome;
import dev.ratelimit.RequestRecord;
import dev.ratelimit.Subject;
import dev.ratelimit.Window;
import dev.ratelimit.admin.ApiKeyAdmin.IssuedKey;
import dev.ratelimit.admin.ApiKeyInfo;
import dev.ratelimit.admin.Explanation;
import dev.ratelimit.admin.Inquiry;
import dev.ratelimit.admin.NewApiKey;
import dev.ratelimit.admin.PenaltyAdmin.Penalty;
import dev.ratelimit.admin.QuotaAdmin;
import dev.ratelimit.admin.Usage;
import dev.ratelimit.admin.version.Change;
import dev.ratelimit.admin.version.Problem;
import dev.ratelimit.algorithm.Algorithms;
import dev.ratelimit.caller.Account;
import dev.ratelimit.caller.ApiKey;
import dev.ratelimit.caller.Quota;
import dev.ratelimit.policy.Rule;
import dev.ratelimit.setting.InvalidLimitException;
import dev.ratelimit.support.Micros;
import dev.ratelimit.testing.Messages;
import java.time.Duration;
import java.time.Instant;
import java.time.ZoneId;
import java.util.Base64;
import java.util.HashSet;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import java.util.stream.IntStream;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;

/** API keys, quotas and penalties, on every database alike. */
abstract class KeysAndQuotasContract extends DataContract {

    private static final Quota HUNDRED_A_DAY = new Quota(null, null, 100L, null, null, ZoneId.of("Europe/Berlin"));

    // API keys

    @Test
    void aKeyIsRecognisedUntilItIsRevoked() {
        StoredPolicies other = instance(NEVER, false, ChangeListener.NONE);
        IssuedKey issued = admin.keys()
                .create(NewApiKey.of("build server", "alice").tier("premium").quota(HUNDRED_A_DAY), Change.by("ops"));
        other.refresh();

        ApiKey expected = new ApiKey(issued.id(), "build server", "alice", "premium", HUNDRED_A_DAY);
        assertThat(policies.apiKeys().recognise(issued.secret())).isEqualTo(expected);
        assertThat(other.apiKeys().recognise(issued.secret())).isEqualTo(expected);

        clock.move(ofMinutes(1));
        admin.keys().revoke(issued.id(), Change.by("eve"));
        assertThat(policies.apiKeys().recognise(issued.secret())).isNull();
        other.refresh();
        assertThat(other.apiKeys().recognise(issued.secret())).isNull();
        assertThat(instance(NEVER, false, ChangeListener.NONE).apiKeys().recognise(issued.secret()))
                .isNull();

        ApiKeyInfo info = admin.keys().find(issued.id()).orElseThrow();
        assertThat(info.revokedBy()).isEqualTo("eve");
        assertThat(info.revokedAt()).isEqualTo(clock.instant());
        assertThat(info.createdBy()).isEqualTo("ops");
        assertThat(info.isActive(clock.instant())).isFalse();

        clock.move(ofMinutes(1));
        admin.keys().revoke(issued.id(), Change.by("mallory"));
        assertThat(admin.keys().find(issued.id()).orElseThrow().revokedBy()).isEqualTo("eve");
    }

    @Test
    void aKeyExpiresByTheClock() {
        IssuedKey issued = admin.keys()
                .create(NewApiKey.of("trial", "alice").expires(clock.instant().plus(ofHours(1))), Change.by("ops"));
        assertThat(policies.apiKeys().recognise(issued.secret())).isNotNull();

        clock.move(ofHours(1));
        assertThat(policies.apiKeys().recognise(issued.secret())).isNull();
        assertThatThrownBy(() ->
                        admin.keys().create(NewApiKey.of("late", "alice").expires(clock.instant()), Change.by("ops")))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageContaining("write a moment in the future");
    }

    @Test
    void whatIsNoKeyIsNotRecognised() {
        IssuedKey issued = admin.keys().create(NewApiKey.of("ci", "alice"), Change.by("ops"));

        for (String wrong : List.of(
                "",
                "rl_",
                issued.id(),
                issued.secret() + "x",
                issued.secret().substring(0, issued.secret().length() - 1),
                issued.secret().toUpperCase(Locale.ROOT),
                ApiKeySecret.hashText(issued.secret()),
                "rl_" + "x".repeat(100_000))) {
            assertThat(policies.apiKeys().recognise(wrong)).as(wrong).isNull();
        }
    }

    @Test
    void aKeyHasAtLeast160RandomBits() {
        Set<String> secrets = new HashSet<>();
        for (int i = 0; i < 50; i++) {
            IssuedKey issued = ApiKeySecret.generate();
            String random = issued.secret().substring(("rl_" + issued.id() + "_").length());
            assertThat(Base64.getUrlDecoder().decode(random).length * 8).isGreaterThanOrEqualTo(160);
            secrets.add(random);
        }
        assertThat(secrets).hasSize(50);
        IntStream.range(0, 24)
                .forEach(position -> assertThat(secrets.stream()
                                .map(secret -> Base64.getUrlDecoder().decode(secret)[position])
                                .distinct())
                        .as("the bytes at %d", position)
                        .hasSizeGreaterThan(25));
    }

    @Test
    void plaintextIsInNoTableAndNoLog() {
        try (Messages messages = new Messages()) {
            IssuedKey issued = admin.keys().create(NewApiKey.of("ci", "alice"), Change.by("ops"));
            policies.apiKeys().recognise(issued.secret());
            admin.keys().list();
            admin.keys().revoke(issued.id(), Change.by("ops"));
            policies.apiKeys().recognise(issued.secret());

            String random = issued.secret()
                    .substring(issued.secret().lastIndexOf(issued.id())
                            + issued.id().length()
                            + 1);
            assertThat(database.contents()).contains(issued.id()).doesNotContain(random);
            assertThat(messages.all()).isNotEmpty().noneMatch(message -> message.contains(random));
            assertThat(issued.toString()).contains(issued.id()).doesNotContain(random);
            assertThat(admin.keys().list().toString()).doesNotContain(random);
        }
    }

    @Test
    void usesAreCountedWithoutAWriteForEach() {
        IssuedKey issued = admin.keys().create(NewApiKey.of("ci", "alice"), Change.by("ops"));
        long changes = database.count("rate_limit_changes");
        String before = database.contents();
        for (int i = 0; i < 1_000; i++) {
            assertThat(policies.apiKeys().recognise(issued.secret())).isNotNull();
        }
        clock.move(ofMinutes(1));
        Instant last = clock.instant();
        policies.apiKeys().recognise(issued.secret());
        assertThat(database.contents()).isEqualTo(before);

        policies.writeUses();
        Map<String, Object> row = database.query("SELECT * FROM %sapi_keys").get(0);
        assertThat(((Number) row.get("total_requests")).longValue()).isEqualTo(1_001);
        assertThat(((Number) row.get("last_used_at")).longValue()).isEqualTo(Micros.of(last));
        assertThat(database.count("rate_limit_changes")).isEqualTo(changes);

        String written = database.contents();
        policies.writeUses();
        assertThat(database.contents()).isEqualTo(written);
    }

    @Test
    void usesOfSeveralInstancesAddUp() {
        IssuedKey issued = admin.keys().create(NewApiKey.of("ci", "alice"), Change.by("ops"));
        StoredPolicies other = instance(NEVER, false, ChangeListener.NONE);
        other.apiKeys().recognise(issued.secret());
        clock.move(ofMinutes(-5));
        policies.apiKeys().recognise(issued.secret());
        policies.apiKeys().recognise(issued.secret());

        other.close();
        ApiKeyInfo info = admin.keys().find(issued.id()).orElseThrow();
        assertThat(info.totalRequests()).isEqualTo(3);
        assertThat(info.lastUsedAt()).isEqualTo(clock.instant().plus(ofMinutes(5)));
    }

    @Test
    void keysAreListedByOwner() {
        admin.keys().create(NewApiKey.of("one", "alice"), Change.by("ops"));
        clock.move(ofMinutes(1));
        admin.keys().create(NewApiKey.of("two", "bob"), Change.by("ops"));

        assertThat(admin.keys().list()).extracting(info -> info.key().name()).containsExactly("one", "two");
        assertThat(admin.keys().list("bob"))
                .extracting(info -> info.key().name())
                .containsExactly("two");
        assertThat(admin.keys().find("nowhere")).isEmpty();
        assertThatThrownBy(() -> admin.keys().revoke("nowhere", Change.by("ops")))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessage("there is no API key with the id 'nowhere'");
    }

    @Test
    void aKeyRowWithoutAHashIsReported() {
        database.execute(
                "INSERT INTO %sapi_keys (id, key_hash, name, user_id) VALUES ('k', 'plaintext?', 'ci', 'alice')");
        policies.refresh();

        assertThat(admin.problems())
                .extracting(Problem::toString)
                .containsExactly("api_keys, k: key_hash is no SHA-256; write 64 hexadecimal digits");

        database.execute("DELETE FROM %sapi_keys");
        policies.refresh();
        assertThat(admin.problems()).isEmpty();
    }

    // Quotas

    @Test
    void aUserGetsATierAndNumbersAndLosesThem() {
        admin.quotas().set("alice", "premium", HUNDRED_A_DAY, Change.by("ops"));
        assertThat(policies.accounts().find("alice"))
                .isEqualTo(new Account("alice", "premium", HUNDRED_A_DAY, null, null));
        assertThat(admin.quotas().find("alice").orElseThrow().by()).isEqualTo("ops");

        admin.quotas().set("alice", "free", Quota.NONE, Change.by("eve"));
        assertThat(policies.accounts().find("alice").tier()).isEqualTo("free");

        admin.quotas().remove("alice", Change.by("ops"));
        assertThat(policies.accounts().find("alice")).isNull();
        assertThat(database.count("user_quotas")).isZero();
    }

    /** Requests carry the name without blanks, so a block typed with one must apply to them. */
    @Test
    void blanksAroundTheNameOfAUserDoNotCount() {
        admin.quotas().block("alice ", Change.by("ops"));
        assertThat(policies.accounts().find("alice")).isNotNull().matches(one -> one.isBlocked(clock.instant()));

        admin.quotas().unblock(" alice", Change.by("ops"));
        assertThat(policies.accounts().find("alice")).isNull();
        assertThat(NewApiKey.of("ci", " olga").owner()).isEqualTo("olga");
    }

    @Test
    void decomposedNameOfAUserIsTheComposedOne() {
        admin.quotas().block("zoe\u0308", Change.by("ops"));
        assertThat(policies.accounts().find("zo\u00eb")).isNotNull().matches(one -> one.isBlocked(clock.instant()));
    }

    @Test
    void aBlockStandsBesideTierAndNumbers() {
        Instant until = clock.instant().plus(ofHours(1));
        admin.quotas().block("alice", Change.by("ops").until(until).because("scraping"));
        admin.quotas().set("alice", "premium", HUNDRED_A_DAY, Change.by("eve"));
        assertThat(policies.accounts().find("alice"))
                .isEqualTo(new Account("alice", "premium", HUNDRED_A_DAY, until, "scraping"));
        assertThat(policies.accounts().find("alice").isBlocked(clock.instant())).isTrue();

        admin.quotas().remove("alice", Change.by("eve"));
        assertThat(policies.accounts().find("alice").isBlocked(clock.instant())).isTrue();

        admin.quotas().unblock("alice", Change.by("eve"));
        assertThat(policies.accounts().find("alice")).isNull();
        assertThat(admin.quotas().list()).isEmpty();
        assertThatThrownBy(() -> admin.quotas()
                        .block("alice", Change.by("ops").until(clock.instant()).because("late")))
                .isInstanceOf(IllegalArgumentException.class);
    }

    @Test
    void aBlockMayHaveNoEnd() {
        admin.quotas().block("alice", Change.by("ops").because("fraud"));

        clock.move(ofDays(3660));
        assertThat(policies.accounts().find("alice").isBlocked(clock.instant())).isTrue();
        assertThat(policies.accounts().find("alice").isBlockedForever(clock.instant()))
                .isTrue();

        admin.quotas()
                .block(
                        "alice",
                        Change.by("ops").until(clock.instant().plus(ofHours(1))).because("less"));
        assertThat(policies.accounts().find("alice").isBlockedForever(clock.instant()))
                .isFalse();
    }

    @Test
    void requestsOfAUserAreKeptBesideTheQuotaAndAreNoChangeOfIt() {
        admin.quotas().set("alice", "premium", HUNDRED_A_DAY, Change.by("ops"));
        Instant created = clock.instant();
        QuotaAdmin.UserQuota before = admin.quotas().find("alice").orElseThrow();
        assertThat(before.createdAt()).isEqualTo(created);
        assertThat(before.lastRequestAt()).isNull();
        assertThat(before.exceededCount()).isZero();
        long changes = database.count("rate_limit_changes");

        clock.move(ofMinutes(1));
        DecisionListener listener = policies.requestsOfUsers();
        listener.recorded(request("alice", Quota.LIMIT + ":day", true));
        listener.recorded(request("alice", Quota.LIMIT + ":day", false));
        listener.recorded(request("alice", "login", false));
        listener.recorded(request("bob", Quota.LIMIT + ":day", false));
        listener.recorded(request(null, Quota.LIMIT + ":day", false));

        QuotaAdmin.UserQuota after = admin.quotas().list().get(0);
        assertThat(after.createdAt()).isEqualTo(created);
        assertThat(after.lastRequestAt()).isEqualTo(clock.instant());
        assertThat(after.exceededCount()).isEqualTo(1);
        assertThat(database.count("rate_limit_changes")).isEqualTo(changes);
        assertThat(database.count("user_quotas")).isEqualTo(1);

        admin.quotas().set("alice", "free", HUNDRED_A_DAY, Change.by("ops"));
        listener.recorded(request("alice", Quota.LIMIT + ":day", false));
        assertThat(admin.quotas().find("alice").orElseThrow().exceededCount()).isEqualTo(2);
        assertThat(admin.quotas().find("alice").orElseThrow().createdAt()).isEqualTo(created);
    }

    @Test
    void requestsOfAUserAreWrittenWhenTheInstanceIsClosed() {
        StoredPolicies other = instance(NEVER, false, ChangeListener.NONE);
        admin.quotas().set("alice", "premium", HUNDRED_A_DAY, Change.by("ops"));
        other.refresh();
        other.requestsOfUsers().recorded(request("alice", Quota.LIMIT + ":day", false));
        assertThat(admin.quotas().find("alice").orElseThrow().exceededCount()).isZero();

        other.close();

        assertThat(admin.quotas().find("alice").orElseThrow().exceededCount()).isEqualTo(1);
    }

    private RequestRecord request(@Nullable String user, String limit, boolean allowed) {
        Limit asked = Limit.named(limit)
                .algorithm(Algorithms.atMost(1, Window.of(ofHours(1))))
                .build();
        LimitDecision answer = new LimitDecision(
                ALICE, asked, null, allowed ? Outcome.ALLOWED : Outcome.THROTTLED, 0, 0, ofMinutes(1), null, 0, false);
        Decision decision = Decision.of(Micros.of(clock.instant()), List.of(answer), Duration.ZERO, null);
        return new RequestRecord(
                decision.outcome(),
                allowed,
                null,
                null,
                Duration.ofSeconds(decision.retryAfterSeconds()),
                List.of(new RequestRecord.Asked(LimitRequest.of(ALICE, asked), decision, Duration.ZERO)),
                new RequestRecord.Exchange("GET", "/api", null, allowed ? 200 : 429, null, user, null, null),
                clock.instant());
    }

    @Test
    void numbersThatCannotBeRightAreRefusedAndNothingIsWritten() {
        Quota offset = new Quota(null, null, 1L, null, null, ZoneId.of("+02:00"));

        assertThatThrownBy(() -> admin.quotas().set("alice", null, offset, Change.by("ops")))
                .isInstanceOf(InvalidLimitException.class)
                .hasMessageContaining("zone is '+02:00'");
        assertThatThrownBy(() -> admin.keys().create(NewApiKey.of("ci", "alice").quota(offset), Change.by("ops")))
                .isInstanceOf(InvalidLimitException.class);
        assertThat(database.count("user_quotas") + database.count("api_keys")).isZero();
    }

    @Test
    void wrongNumbersInARowAreReportedAndTheBlockHolds() {
        admin.quotas().set("alice", "premium", HUNDRED_A_DAY, Change.by("ops"));
        database.execute(
                "UPDATE %suser_quotas SET per_day = -1, blocked_until = ?",
                Micros.of(clock.instant().plus(ofDays(1))));
        database.execute("INSERT INTO %suser_quotas (user_id, zone) VALUES ('bob', 'Atlantis')");
        policies.refresh();

        assertThat(policies.accounts().find("alice").quota()).isEqualTo(HUNDRED_A_DAY);
        assertThat(policies.accounts().find("alice").isBlocked(clock.instant())).isTrue();
        assertThat(policies.accounts().find("bob").quota()).isEqualTo(Quota.NONE);
        assertThat(admin.problems())
                .extracting(Problem::toString)
                .containsExactlyInAnyOrder(
                        "user_quotas, alice: limit 'quota': per-day is -1; write a whole number from 1 to 999999999999",
                        "user_quotas, bob: limit 'quota': zone is 'Atlantis';"
                                + " write a zone such as Europe/Berlin or UTC");
    }

    @Test
    void aBlockLeavesNumbersAsTheyAreEvenIfTheyAreWrong() {
        admin.quotas().set("alice", "premium", HUNDRED_A_DAY, Change.by("ops"));
        database.execute("UPDATE %suser_quotas SET per_day = -1");

        admin.quotas()
                .block(
                        "alice",
                        Change.by("ops").until(clock.instant().plus(ofHours(1))).because("scraping"));
        admin.quotas().unblock("alice", Change.by("ops"));

        assertThat(policies.accounts().find("alice").quota()).isEqualTo(HUNDRED_A_DAY);
        assertThat(database.query("SELECT per_day FROM %suser_quotas").toString())
                .contains("-1");
    }

    @Test
    void usageOfTodayAndThisMonthCanBeRead() {
        admin.quotas().set("alice", null, HUNDRED_A_DAY, Change.by("ops"));
        use("alice", 3);
        clock.move(ofDays(1));
        use("alice", 2);

        Usage usage = admin.quotas().usage("alice");
        assertThat(usage.tier()).isEqualTo("free");
        assertThat(usage.today()).isEqualTo(2);
        assertThat(usage.thisMonth()).isEqualTo(5);
        assertThat(usage.limits().get(0).remaining()).isEqualTo(98);

        assertThat(admin.quotas().usage("nobody").today()).isZero();
        assertThat(admin.quotas()
                        .usage("nobody", Set.of("ROLE_GOLD"))
                        .limits()
                        .get(0)
                        .remaining())
                .isEqualTo(100);
    }

    private void use(String user, int requests) {
        List<Limit> quota = policies.current()
                .tiers()
                .caller(user, Set.of(), null, policies.accounts())
                .quota();
        LimitRequest request = LimitRequest.of(Subject.user(user), quota.get(0)).and(Subject.user(user), quota.get(1));
        for (int i = 0; i < requests; i++) {
            assertThat(limiter.decide(request).allowed()).isTrue();
        }
    }

    @Test
    void theUsageOfAKeyWithItsOwnQuotaIsItsOwn() {
        IssuedKey own = admin.keys().create(NewApiKey.of("own", "alice").quota(HUNDRED_A_DAY), Change.by("ops"));
        IssuedKey shared = admin.keys().create(NewApiKey.of("shared", "alice"), Change.by("ops"));
        use("alice", 3);

        assertThat(admin.keys().usage(own.id()).today()).isZero();
        assertThat(admin.keys().usage(shared.id()).today()).isEqualTo(3);
    }

    @Test
    void aQuotaIsResetAsAWhole() {
        admin.quotas().set("alice", null, HUNDRED_A_DAY, Change.by("ops"));
        use("alice", 3);

        assertThat(admin.reset(ALICE, Quota.LIMIT, Change.by("ops"))).isTrue();
        assertThat(admin.quotas().usage("alice").today()).isZero();
        assertThat(admin.quotas().usage("alice").thisMonth()).isZero();
    }

    // Penalties

    @Test
    void penaltiesAreListedAndCleared() {
        admin.limits()
                .set(
                        "login",
                        Map.of(
                                "algorithm",
                                "fixed-window",
                                "max-requests",
                                "1",
                                "window",
                                "1m",
                                "penalties",
                                "1 -> 5m"),
                        OPS);
        limiter.decide(ALICE, "login");
        limiter.decide(ALICE, "login");

        assertThat(admin.penalties().list())
                .containsExactly(new Penalty(
                        "user:alice",
                        "login",
                        1,
                        clock.instant(),
                        clock.instant().plus(ofMinutes(5)),
                        null));
        assertThat(admin.penalties().clear(Subject.ofText("user:alice"), "login", Change.by("ops")))
                .isTrue();
        assertThat(admin.penalties().list()).isEmpty();
        assertThat(limiter.decide(ALICE, "login").allowed()).isTrue();

        limiter.decide(ALICE, "login");
        clock.move(ofMinutes(5));
        assertThat(admin.penalties().list()).isEmpty();
    }

    @Test
    void aPenaltyHoldsTheNotesOfAnOperatorUntilItIsForgotten() {
        admin.limits().set("login", withPenalties("1 -> 5m, 2 -> forever"), OPS);
        assertThat(admin.penalties().note(ALICE, "login", Map.of("ticket", "1"), Change.by("ops")))
                .isFalse();
        limiter.decide(ALICE, "login");
        limiter.decide(ALICE, "login");

        assertThat(admin.penalties().note(ALICE, "login", Map.of("ticket", "OPS-7 \"bot\""), Change.by("ops")))
                .isTrue();
        clock.move(ofMinutes(5));
        limiter.decide(ALICE, "login"); // the store writes the row, and leaves the notes alone

        Penalty penalty = admin.penalties().list().get(0);
        assertThat(penalty.metadata()).isEqualTo("{\"ticket\": \"OPS-7 \\\"bot\\\"\"}");
        assertThat(penalty.isForever()).isTrue();
        assertThat(admin.penalties().clear(ALICE, "login", Change.by("ops"))).isTrue();
        assertThat(admin.penalties().note(ALICE, "login", Map.of("ticket", "1"), Change.by("ops")))
                .isFalse();
    }

    @Test
    void aPenaltyWithoutAnEndLastsUntilItIsCleared() {
        admin.limits().set("login", withPenalties("1 -> forever"), OPS);
        limiter.decide(ALICE, "login");

        assertThat(limiter.decide(ALICE, "login").isForever()).isTrue();
        clock.move(ofDays(3660 * 10));
        assertThat(limiter.decide(ALICE, "login").isForever()).isTrue();
        assertThat(admin.penalties().list()).hasSize(1);

        assertThat(admin.penalties().clear(ALICE, "login", Change.by("ops"))).isTrue();
        assertThat(limiter.decide(ALICE, "login").allowed()).isTrue();
    }

    private static Map<String, String> withPenalties(String steps) {
        return Map.of("algorithm", "fixed-window", "max-requests", "1", "window", "3660d", "penalties", steps);
    }

    @Test
    void thePenaltyOfALimitThatIsGoneCanBeCleared() {
        admin.limits()
                .set(
                        "login",
                        Map.of(
                                "algorithm",
                                "fixed-window",
                                "max-requests",
                                "1",
                                "window",
                                "1m",
                                "penalties",
                                "1 -> 5m"),
                        OPS);
        limiter.decide(ALICE, "login");
        limiter.decide(ALICE, "login");
        admin.limits().remove("login", OPS);

        assertThat(admin.penalties().clear(ALICE, "login", Change.by("ops"))).isTrue();
        assertThat(admin.penalties().list()).isEmpty();
    }

    // Explanations

    @Test
    void anExplanationSaysWhereTheTierComesFrom() {
        IssuedKey key = admin.keys().create(NewApiKey.of("ci", "alice").tier("enterprise"), Change.by("ops"));
        Inquiry inquiry = Inquiry.of("GET", "/").user("alice").authorities("ROLE_GOLD");

        assertThat(admin.explain(Inquiry.of("GET", "/")).tierFrom()).isEqualTo("the default");
        assertThat(admin.explain(inquiry).tierFrom()).isEqualTo("the authority ROLE_GOLD");
        admin.quotas().set("alice", "partner", Quota.NONE, Change.by("ops"));
        assertThat(admin.explain(inquiry).tierFrom()).isEqualTo("the quota of the user alice");
        Explanation withKey = admin.explain(inquiry.apiKey(key.id()));
        assertThat(withKey.tierFrom()).isEqualTo("the API key ci");
        assertThat(withKey.tier()).isEqualTo("enterprise");
        assertThat(admin.explain(inquiry.apiKey("nowhere")).apiKey()).isEqualTo("invalid API key: rejected with 401");
        assertThat(policies.findKey(key.id())).isNotNull();
        assertThat(admin.keys().find(key.id()).orElseThrow().totalRequests()).isZero();
    }

    @Test
    void anExplanationTellsWhatRemainsAndConsumesNothing() {
        limiter.decide(ALICE, "standard");
        Inquiry inquiry = Inquiry.of("get", "/tenants/7").user("alice").from("203.0.113.7");

        for (int i = 0; i < 3; i++) {
            Explanation explanation = admin.explain(inquiry);
            assertThat(explanation.applying()).hasSize(1);
            Explanation.OfLimit limit = explanation.applying().get(0).limits().get(0);
            assertThat(limit.subject()).isEqualTo("user:alice");
            assertThat(limit.decision().remaining()).isEqualTo(9);
            assertThat(explanation.rules().get(1).why())
                    .isEqualTo("its condition #request.secure cannot be known without a request");
        }
    }

    @Test
    void anExplanationKnowsTheSubjectOfEachKeyOrSaysThatItDoesNot() {
        IssuedKey key = admin.keys().create(NewApiKey.of("ci", "alice").quota(HUNDRED_A_DAY), Change.by("ops"));
        Map.of(
                        "ip", "ip:203.0.113.7",
                        "user+ip", "user:bob+ip:203.0.113.7",
                        "api-key", "api-key:" + key.id(),
                        "user", "user:bob")
                .forEach((written, subject) ->
                        assertThat(subject(written, "standard", key)).isEqualTo(subject));
        assertThat(subject("header:X-Tenant", "standard", key))
                .isEqualTo("whose count it is (header:X-Tenant) cannot be known without a request");
        assertThat(subject("session", "standard", key)).contains("cannot be known without a request");
        assertThat(subject("user", Quota.LIMIT, key)).isEqualTo("api-key:" + key.id());
    }

    private String subject(String key, String limit, IssuedKey apiKey) {
        admin.rules().set(Rule.named("asked").priority(1).key(key).limits(limit).build(), OPS);
        Explanation.OfLimit explained = admin.explain(
                        Inquiry.of("GET", "/").user("bob").from("203.0.113.7").apiKey(apiKey.id()))
                .applying()
                .get(0)
                .limits()
                .get(0);
        return explained.subject() == null ? explained.note() : explained.subject();
    }

    @Test
    void aBlockedUserIsExplained() {
        Instant until = clock.instant().plus(ofHours(1));
        admin.quotas().block("alice", Change.by("ops").until(until).because("scraping"));

        assertThat(admin.explain(Inquiry.of("GET", "/").user("alice")).blockedUntil())
                .isEqualTo(until);
        assertThat(admin.explain(Inquiry.of("GET", "/").user("bob")).blockedUntil())
                .isNull();
        assertThatThrownBy(() -> Inquiry.of("GET", "/").from("here"))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessage("the address is 'here'; write one such as 203.0.113.7 or 2001:db8::7");
    }
}
