package dev.ratelimit.data;

import static java.time.Duration.ofHours;
import static java.time.Duration.ofMillis;
import static java.time.Duration.ofMinutes;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.tuple;
import static org.awaitility.Awaitility.await;

import dev.ratelimit.FailurePolicy;
import dev.ratelimit.LimitDecision;
import dev.ratelimit.LimitRequest;
import dev.ratelimit.Subject;
import dev.ratelimit.admin.ApiKeyAdmin.IssuedKey;
import dev.ratelimit.admin.Explanation;
import dev.ratelimit.admin.Inquiry;
import dev.ratelimit.admin.NewApiKey;
import dev.ratelimit.admin.RateLimitAdmin;
import dev.ratelimit.admin.version.Change;
import dev.ratelimit.admin.version.InForce;
import dev.ratelimit.admin.version.Problem;
import dev.ratelimit.admin.version.Version;
import dev.ratelimit.caller.Quota;
import dev.ratelimit.policy.Action;
import dev.ratelimit.policy.InvalidRuleException;
import dev.ratelimit.policy.Rule;
import dev.ratelimit.policy.Rule.Response;
import dev.ratelimit.setting.InvalidLimitException;
import dev.ratelimit.store.jdbc.DatabaseProduct;
import dev.ratelimit.testing.Messages;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.CyclicBarrier;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;
import org.springframework.dao.DataAccessException;

/** Limits and rules that change while requests are served, on every database alike. */
abstract class PolicyChangesContract extends DataContract {

    // Limits

    @Test
    void whatIsConfiguredAppliesWhereNothingIsStored() {
        assertThat(capacity(policies, "standard")).isEqualTo(10);
        assertThat(rules(policies)).containsExactly("everything", "tenants");
        assertThat(admin.limits().list())
                .extracting(InForce::name, InForce::isStored)
                .containsExactly(tuple("small", false), tuple("standard", false));
    }

    @Test
    void aStoredLimitOverridesTheConfiguredOneAtOnce() {
        admin.limits().set("standard", window(99), OPS);

        assertThat(capacity(policies, "standard")).isEqualTo(99);
        assertThat(admin.limits().find("standard").isStored()).isTrue();
        assertThat(admin.limits().find("standard").content()).containsEntry("max-requests", "99");
    }

    @Test
    void aStoredLimitMayOverrideASingleProperty() {
        admin.limits().set("standard", Map.of("max-requests", "50"), OPS);

        assertThat(capacity(policies, "standard")).isEqualTo(50);
        assertThat(policies.limits().get("standard").algorithm().name()).isEqualTo("fixed-window");
        assertThat(admin.limits().find("standard").content())
                .containsEntry("max-requests", "50")
                .containsEntry("window", "1h");
        assertThat(admin.limits().find("standard").version().content()).containsOnlyKeys("max-requests");
        StoredPolicies other = instance(NEVER, false, ChangeListener.NONE);
        assertThat(capacity(other, "standard")).isEqualTo(50);

        admin.limits().set("small", Map.of("min-interval", "1s"), OPS);
        assertThat(capacity(policies, "small")).isEqualTo(2);
        assertThat(policies.limits().get("small").hasMinInterval()).isTrue();

        admin.limits().remove("standard", OPS);
        assertThat(capacity(policies, "standard")).isEqualTo(10);
    }

    @Test
    void aSinglePropertyThatTheConfiguredLimitDoesNotTakeIsRefused() {
        assertThatThrownBy(() -> admin.limits().set("standard", Map.of("burst", "5"), OPS))
                .hasMessageContaining("fixed-window takes");
        assertThatThrownBy(() -> admin.limits().set("unknown", Map.of("max-requests", "5"), OPS))
                .hasMessageContaining("algorithm");
        assertThat(capacity(policies, "standard")).isEqualTo(10);
    }

    @Test
    void aVersionHoldsTheNotesOfAnOperator() {
        admin.limits().set("standard", window(99), OPS.noting(Map.of("ticket", "OPS-7")));
        admin.limits().set("standard", window(98), OPS);
        admin.rules().set(Rule.named("extra").limits("small").build(), OPS.noting(Map.of("why", "a\nb \"c\" \\ d")));

        assertThat(admin.limits().history("standard"))
                .extracting(version -> version.change().metadata())
                .containsExactly(null, "{\"ticket\": \"OPS-7\"}");
        assertThat(admin.rules().history("extra").get(0).change().metadata())
                .isIn("{\"why\": \"a\\nb \\\"c\\\" \\\\ d\"}", "{\"why\": \"a\\u000ab \\\"c\\\" \\\\ d\"}");
    }

    @Test
    void whatIsBasedOnAChangedLimitChangesWithIt() {
        admin.limits()
                .set("standard", Map.of("algorithm", "sliding-window", "max-requests", "50", "window", "1h"), OPS);

        assertThat(policies.limits().get("small").algorithm().name()).isEqualTo("sliding-window");
        assertThat(capacity(policies, "small")).isEqualTo(2);
    }

    @Test
    void aRemovedLimitGivesWayToTheConfiguration() {
        admin.limits().set("standard", window(99), OPS);
        admin.limits().remove("standard", OPS);

        assertThat(capacity(policies, "standard")).isEqualTo(10);
        assertThatThrownBy(() -> admin.limits().remove("standard", OPS))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageContaining("no limit 'standard' is stored");
    }

    @Test
    void aVersionThatExpiresGivesWayToTheOneBefore() {
        admin.limits().set("standard", window(20), OPS);
        admin.limits().set("standard", window(30), OPS.until(clock.instant().plus(ofHours(1))));
        assertThat(capacity(policies, "standard")).isEqualTo(30);

        clock.move(ofHours(1).minusMillis(1));
        policies.refresh();
        assertThat(capacity(policies, "standard")).isEqualTo(30);

        clock.move(ofMillis(1));
        policies.refresh();
        assertThat(capacity(policies, "standard")).isEqualTo(20);
    }

    @Test
    void expiryIsNoticedWithoutAnyChange() {
        StoredPolicies polling = instance(ofMillis(20), false, ChangeListener.NONE);
        admin.limits().set("standard", window(30), OPS.until(clock.instant().plus(ofHours(1))));
        await().until(() -> capacity(polling, "standard") == 30);

        clock.move(ofHours(1));
        await().until(() -> capacity(polling, "standard") == 10);
    }

    @Test
    void aChangeThatIsOverBeforeItBeginsIsRefused() {
        assertThatThrownBy(() -> admin.limits().set("standard", window(30), OPS.until(clock.instant())))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageContaining("write a moment in the future");
        assertThat(database.count("rate_limit_configs")).isZero();
    }

    @Test
    void rollbackStoresAnEarlierVersionOnceMore() {
        admin.limits().set("standard", window(20), OPS);
        admin.limits().set("standard", window(30), OPS);
        assertThat(admin.limits().rollback("standard", 1, Change.by("eve")).number())
                .isEqualTo(3);

        assertThat(capacity(policies, "standard")).isEqualTo(20);
        assertThatThrownBy(() -> admin.limits().rollback("standard", 7, OPS))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessage("limit 'standard' has no version 7; name one of [1, 2, 3]");
    }

    @Test
    void rollbackToATemporaryVersionKeepsItsEnd() {
        Instant end = clock.instant().plus(ofHours(1));
        admin.limits().set("standard", window(30), OPS.until(end));
        admin.limits().set("standard", window(20), OPS);

        assertThat(admin.limits().rollback("standard", 1, OPS).expiresAt()).isEqualTo(end);
        assertThat(capacity(policies, "standard")).isEqualTo(30);

        clock.move(ofHours(1));
        policies.refresh();
        assertThat(capacity(policies, "standard")).isEqualTo(20);
        assertThatThrownBy(() -> admin.limits().rollback("standard", 1, OPS))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessage("version 1 of limit 'standard' was temporary and ended at " + end
                        + "; give it a new end, or name another version");
        Instant later = end.plus(ofHours(1));
        assertThat(admin.limits().rollback("standard", 1, OPS.until(later)).expiresAt())
                .isEqualTo(later);
    }

    @Test
    void aLimitThatIsSwitchedOnFollowsTheConfigurationAgain() {
        admin.limits().disable("standard", OPS.until(clock.instant().plus(ofHours(1))));
        assertThat(policies.limits().isOff("standard")).isTrue();
        admin.limits().enable("standard", OPS);

        assertThat(policies.limits().isOff("standard")).isFalse();
        assertThat(admin.limits().find("standard").isStored()).isFalse();
        assertThat(admin.limits().history("standard").get(0).state()).isEqualTo(Version.State.REMOVED);
        assertThatThrownBy(() -> admin.limits().enable("standard", OPS))
                .hasMessage("limit 'standard' is not switched off");
    }

    @Test
    void aTemporaryRaiseKeepsItsEndWhenItIsSwitchedOffAndOn() {
        Instant end = clock.instant().plus(ofHours(1));
        admin.limits().set("standard", Map.of("max-requests", "20"), OPS);
        admin.limits().set("standard", Map.of("max-requests", "30"), OPS.until(end));
        admin.limits().disable("standard", OPS);
        admin.limits().disable("standard", OPS.until(end.plus(ofHours(1))));
        admin.limits().enable("standard", OPS);

        assertThat(capacity(policies, "standard")).isEqualTo(30);
        assertThat(admin.limits().find("standard").version().content()).isEqualTo(Map.of("max-requests", "30"));
        assertThat(admin.limits().find("standard").version().expiresAt()).isEqualTo(end);

        clock.move(ofHours(1));
        policies.refresh();
        assertThat(capacity(policies, "standard")).isEqualTo(20);
        assertThat(policies.limits().isOff("standard")).isFalse();
    }

    @Test
    void aRaiseThatEndsWhileTheLimitIsOffDoesNotComeBack() {
        admin.limits().set("standard", window(30), OPS.until(clock.instant().plus(ofHours(1))));
        admin.limits().disable("standard", OPS);
        clock.move(ofHours(1));
        policies.refresh();
        assertThat(policies.limits().isOff("standard")).isTrue();

        admin.limits().enable("standard", OPS);
        assertThat(capacity(policies, "standard")).isEqualTo(10);
        assertThat(admin.limits().find("standard").isStored()).isFalse();
    }

    @Test
    void aLimitIsSwitchedOnForAWhile() {
        admin.limits().disable("standard", OPS);
        admin.limits().enable("standard", OPS.until(clock.instant().plus(ofHours(1))));
        assertThat(policies.limits().isOff("standard")).isFalse();

        clock.move(ofHours(1));
        policies.refresh();
        assertThat(policies.limits().isOff("standard")).isTrue();
    }

    @Test
    void aLimitThatWasStoredAsOffIsSwitchedOnWithItsNumbers() {
        admin.limits().set("standard", Map.of("max-requests", "30", "enabled", "false"), OPS);
        admin.limits().enable("standard", OPS);
        assertThat(capacity(policies, "standard")).isEqualTo(30);
        assertThat(policies.limits().isOff("standard")).isFalse();
    }

    @Test
    void aTemporaryRuleKeepsItsEndWhenItIsSwitchedOffAndOn() {
        Instant end = clock.instant().plus(ofHours(1));
        admin.rules().set(Rule.named("new").limits("small").build(), OPS.until(end));
        admin.rules().disable("new", OPS);
        admin.rules().enable("new", OPS);
        assertThat(admin.rules().find("new").version().expiresAt()).isEqualTo(end);

        clock.move(ofHours(1));
        policies.refresh();
        assertThat(rules(policies)).containsExactly("everything", "tenants");
        assertThat(admin.rules().find("new")).isNull();
        assertThatThrownBy(() -> admin.rules().rollback("new", 1, OPS)).hasMessageContaining("was temporary and ended");
    }

    @Test
    void aChangeOfALimitThatHasChangedMeanwhileIsRefused() {
        admin.limits().set("standard", window(20), 0, Change.by("bob"));
        assertThatThrownBy(() -> admin.limits().set("standard", window(30), 0, OPS))
                .isInstanceOf(IllegalStateException.class)
                .hasMessage("limit 'standard' was changed meanwhile by bob: version 1 is in force, but you saw the"
                        + " configuration; look at it and try again");
        admin.limits().set("standard", window(30), 1, OPS.until(clock.instant().plus(ofHours(1))));
        clock.move(ofHours(1));
        policies.refresh();
        assertThatThrownBy(() -> admin.limits().set("standard", window(40), 2, OPS))
                .hasMessage("limit 'standard' was changed meanwhile: version 1 is in force, but you saw version 2;"
                        + " look at it and try again");
        assertThat(capacity(policies, "standard")).isEqualTo(20);
    }

    @Test
    void anEmptyValueIsRefused() {
        assertThatThrownBy(() -> admin.limits().set("standard", Map.of("max-requests", " "), OPS))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageContaining("max-requests is ''; write a value; to leave a configured property out");
        assertThat(admin.limits().history("standard")).isEmpty();
    }

    @Test
    void historyTellsWhatWasChangedByWhomWhenAndWhy() {
        admin.limits().set("standard", window(20), OPS.because("launch day"));
        clock.move(ofMinutes(5));
        admin.limits().remove("standard", Change.by("eve"));

        List<Version<Map<String, String>>> history = admin.limits().history("standard");
        assertThat(history).extracting(Version::number).containsExactly(2, 1);
        assertThat(history).extracting(Version::by).containsExactly("eve", "ops");
        assertThat(history).extracting(Version::reason).containsExactly(null, "launch day");
        assertThat(history).extracting(Version::state).containsExactly(Version.State.REMOVED, Version.State.SET);
        assertThat(history)
                .extracting(Version::at)
                .containsExactly(clock.instant(), clock.instant().minus(ofMinutes(5)));
        assertThat(history.get(1).content()).isEqualTo(window(20));
    }

    @Test
    void aLimitThatCannotBeRightIsRefusedAndNothingIsWritten() {
        assertThatThrownBy(() -> admin.limits()
                        .set("api", Map.of("algorithm", "token-bucket", "burst", "many", "refill", "1/s"), OPS))
                .isInstanceOf(InvalidLimitException.class)
                .hasMessageContaining("limit 'api': burst is 'many'; write a whole number");
        assertThatThrownBy(() -> admin.limits().set("api", Map.of("base", "nowhere"), OPS))
                .isInstanceOf(InvalidLimitException.class)
                .hasMessageContaining("base is 'nowhere'; name one of");
        assertThatThrownBy(() -> admin.limits().set("quota", window(3), OPS)).isInstanceOf(InvalidLimitException.class);
        assertThat(database.count("rate_limit_configs")).isZero();
        assertThat(policies.limits().find("api")).isNull();
    }

    @Test
    void aLimitThatWouldMakeAnotherWrongIsRefused() {
        // "small" says max-requests, which a bucket does not know
        assertThatThrownBy(() -> admin.limits()
                        .set("standard", Map.of("algorithm", "token-bucket", "burst", "5", "refill", "1/s"), OPS))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageContaining("limit 'small': max-requests is '2'");
        assertThat(database.count("rate_limit_configs")).isZero();
    }

    @Test
    void aCycleOfBasesIsRefusedAndNamed() {
        admin.limits().set("a", Map.of("base", "standard"), OPS);
        admin.limits().set("b", Map.of("base", "a"), OPS);

        assertThatThrownBy(() -> admin.limits().set("a", Map.of("base", "b"), OPS))
                .isInstanceOf(InvalidLimitException.class)
                .hasMessageContaining("base")
                .hasMessageContaining("a -> b");
        assertThat(admin.limits().find("a").content()).containsEntry("base", "standard");
    }

    @Test
    void aLimitThatARuleNamesIsNotRemoved() {
        admin.limits().set("api", window(5), OPS);
        admin.rules().set(Rule.named("partners").limits("api").build(), OPS);

        assertThatThrownBy(() -> admin.limits().remove("api", OPS))
                .isInstanceOf(InvalidLimitException.class)
                .hasMessageContaining("change or remove the rules that name it first: partners");

        admin.rules().remove("partners", OPS);
        admin.limits().remove("api", OPS);
        assertThat(policies.limits().find("api")).isNull();
    }

    @Test
    void aLimitThatAnotherIsBasedOnIsNotRemoved() {
        admin.limits().set("a", window(5), OPS);
        admin.limits().set("b", Map.of("base", "a"), OPS);

        assertThatThrownBy(() -> admin.limits().remove("a", OPS))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageContaining("would invalidate its dependents; change them first")
                .hasMessageContaining("limit 'b': base is 'a'");
        assertThat(policies.limits().find("a")).isNotNull();
    }

    // Counts stay

    @Test
    void aRaisedLimitHelpsAtOnceAndALoweredOneHoldsAtOnce() {
        admin.limits().set("api", window(2), OPS);
        assertThat(limiter.decide(ALICE, "api").allowed()).isTrue();
        assertThat(limiter.decide(ALICE, "api").allowed()).isTrue();
        assertThat(limiter.decide(ALICE, "api").allowed()).isFalse();

        admin.limits().set("api", window(4), OPS);
        assertThat(remaining("api")).isEqualTo(2);
        assertThat(limiter.decide(ALICE, "api").allowed()).isTrue();

        admin.limits().set("api", window(3), OPS);
        assertThat(limiter.decide(ALICE, "api").allowed()).isFalse();
    }

    @Test
    void aBucketKeepsItsLevelCutToTheNewBurst() {
        admin.limits().set("api", bucket(10), OPS);
        for (int i = 0; i < 4; i++) {
            limiter.decide(ALICE, "api");
        }
        assertThat(remaining("api")).isEqualTo(6);

        admin.limits().set("api", bucket(20), OPS);
        assertThat(remaining("api")).isEqualTo(6);

        admin.limits().set("api", bucket(5), OPS);
        assertThat(remaining("api")).isEqualTo(5);
    }

    private static Map<String, String> bucket(long burst) {
        return Map.of("algorithm", "token-bucket", "burst", String.valueOf(burst), "refill", "1/h");
    }

    private long remaining(String limit) {
        LimitDecision decision = limiter.peek(ALICE, limit).limits().get(0);
        return decision.remaining();
    }

    // Rules

    @Test
    void aStoredRuleComesAfterConfiguredOnesOfEqualPriorityAndKeepsItsPlace() {
        admin.rules().set(Rule.named("second").limits("small").build(), OPS);
        admin.rules().set(Rule.named("third").limits("small").build(), OPS);
        admin.rules().set(Rule.named("first").priority(1).limits("small").build(), OPS);
        admin.rules().set(Rule.named("second").limits("standard").build(), OPS);

        assertThat(rules(policies)).containsExactly("first", "everything", "tenants", "second", "third");
    }

    @Test
    void aRuleComesBackFromTheDatabaseAsItWas() {
        Rule rule = Rule.named("partners")
                .priority(70)
                .action(Action.SHADOW)
                .path("/api/{version}/**")
                .methods("GET", "POST")
                .addresses("203.0.113.0/24", "2001:db8::/32")
                .tiers("free", "premium")
                .authorities("ROLE_PARTNER")
                .apiKeys("*")
                .key("header:X-Tenant")
                .limits("small", "standard")
                .response(new Response(503, "Später, bitte", Duration.ofSeconds(30)))
                .onFailure(FailurePolicy.CLOSED)
                .build();

        admin.rules().set(rule, OPS);

        assertThat(admin.rules().find("partners").content()).isEqualTo(rule);
        assertThat(admin.rules().history("partners").get(0).content()).isEqualTo(rule);
    }

    @Test
    void aRuleIsDisabledRolledBackAndRemoved() {
        admin.rules().set(Rule.named("everything").limits("small").build(), OPS);
        admin.rules().disable("everything", OPS);
        assertThatThrownBy(() -> admin.rules().disable("everything", OPS))
                .as("a second operator")
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessage("rule 'everything' is switched off already");
        assertThat(rules(policies)).containsExactly("tenants");
        assertThat(admin.rules().find("everything").content()).isNull();
        assertThat(admin.rules().find("everything").version().state()).isEqualTo(Version.State.DISABLED);

        admin.rules().rollback("everything", 1, OPS);
        assertThat(admin.rules().find("everything").content().limits()).containsExactly("small");

        admin.rules().remove("everything", OPS);
        assertThat(admin.rules().find("everything").content().limits()).containsExactly("standard");
        assertThat(admin.rules().find("everything").isStored()).isFalse();
    }

    @Test
    void aConfiguredRuleWithAnExpressionCanBeDisabled() {
        admin.rules().disable("tenants", OPS.until(clock.instant().plus(ofHours(1))));
        assertThat(rules(policies)).containsExactly("everything");

        clock.move(ofHours(1));
        policies.refresh();
        assertThat(rules(policies)).containsExactly("everything", "tenants");
    }

    @Test
    void aRuleThatCannotBeRightIsRefusedAndNothingIsWritten() {
        assertThatThrownBy(() ->
                        admin.rules().set(Rule.named("api").limits("nowhere").build(), OPS))
                .isInstanceOf(InvalidRuleException.class)
                .hasMessageContaining("rule 'api': limits is 'nowhere'; name one of small, standard");
        assertThatThrownBy(() -> admin.rules()
                        .set(Rule.named("api").limits("small").path("/a/{").build(), OPS))
                .isInstanceOf(InvalidRuleException.class)
                .hasMessageContaining("path is '/a/{'");
        assertThatThrownBy(() -> admin.rules()
                        .set(
                                Rule.named("api")
                                        .limits("small")
                                        .authorities("a,b")
                                        .build(),
                                OPS))
                .isInstanceOf(InvalidRuleException.class)
                .hasMessageContaining("authorities is 'a,b'; write a value without a comma");
        assertThat(database.count("rate_limit_rules")).isZero();
    }

    @Test
    void anExpressionIsNeverStored() {
        for (Rule rule : List.of(
                Rule.named("api").limits("small").expression("true").build(),
                Rule.named("api").limits("small").key("#request.remoteHost").build(),
                Rule.named("api").limits("small").key("bean:tenants").build())) {
            assertThatThrownBy(() -> admin.rules().set(rule, OPS))
                    .isInstanceOf(InvalidRuleException.class)
                    .hasMessageContaining("rule 'api'");
        }
        assertThat(database.count("rate_limit_rules")).isZero();
    }

    // Rows that somebody writes by hand

    private void insertLimit(String name, int version, String definition) {
        database.execute(
                "INSERT INTO %srate_limit_configs (resource, version, definition) VALUES (?, ?, ?)",
                name, version, definition);
    }

    @Test
    void aChangeMadeByHandIsLive() {
        insertLimit("standard", 1, "algorithm: fixed-window\n\n  max-requests : 7\nwindow: 1h\n");
        policies.refresh();
        assertThat(capacity(policies, "standard")).isEqualTo(7);

        database.execute("UPDATE %srate_limit_configs SET definition = replace(definition, '7', '8')");
        policies.refresh();
        assertThat(capacity(policies, "standard")).isEqualTo(8);

        database.execute("UPDATE %srate_limit_configs SET resource = 'other'");
        policies.refresh();
        assertThat(capacity(policies, "standard")).isEqualTo(10);
        assertThat(capacity(policies, "other")).isEqualTo(8);

        database.execute("DELETE FROM %srate_limit_configs");
        policies.refresh();
        assertThat(policies.limits().find("other")).isNull();

        database.execute("INSERT INTO %srate_limit_rules (rule_name, version, limits) VALUES ('all', 1, 'small')");
        policies.refresh();
        assertThat(rules(policies)).containsExactly("everything", "tenants", "all");
    }

    @Test
    void aBrokenRowIsReportedOnceAndTheVersionBelowStays() {
        admin.limits().set("standard", window(20), OPS);
        try (Messages messages = new Messages()) {
            insertLimit("standard", 2, "algorithm: fixed-window\nmax-requests: -3\nwindow: 1h");
            insertLimit("standard", 3, "what is this");
            insertLimit("api", 1, "algorithm: guess");
            policies.refresh();
            admin.quotas().set("bob", "free", Quota.NONE, Change.by("ops"));
            admin.limits().set("fine", window(1), OPS);

            assertThat(capacity(policies, "standard")).isEqualTo(20);
            assertThat(policies.limits().find("api")).isNull();
            assertThat(admin.problems())
                    .extracting(Problem::toString)
                    .hasSize(3)
                    .anyMatch(problem -> problem.matches(
                            "rate_limit_configs, standard, version 2: limit 'standard': max-requests is -3; write .*"))
                    .anyMatch(problem -> problem.startsWith(
                            "rate_limit_configs, standard, version 3: limit 'standard': definition is 'what is this'"))
                    .anyMatch(problem -> problem.startsWith(
                            "rate_limit_configs, api, version 1: limit 'api': algorithm is 'guess'"));
            assertThat(messages.warnings()).hasSize(3);
        }
        database.execute("DELETE FROM %srate_limit_configs WHERE version > 1 OR resource = 'api'");
        policies.refresh();
        assertThat(admin.problems()).isEmpty();
    }

    @Test
    void aBrokenRuleCostsNothingButItself() {
        admin.rules().set(Rule.named("good").limits("small").build(), OPS);
        database.execute("INSERT INTO %srate_limit_rules (rule_name, version, limits, ip_range)"
                + " VALUES ('cidr', 1, 'small', '10.0.0.0/99')");
        database.execute(
                "INSERT INTO %srate_limit_rules (rule_name, version, limits) VALUES ('unknown', 1, 'nowhere')");
        database.execute("INSERT INTO %srate_limit_rules (rule_name, version, limits, subject_key)"
                + " VALUES ('expression', 1, 'small', '#{T(java.lang.Runtime)}')");
        database.execute("INSERT INTO %srate_limit_rules (rule_name, version, limits, action)"
                + " VALUES ('good', 2, 'small', 'explode')");
        database.execute("INSERT INTO %srate_limit_rules (rule_name, version, limits, response_status)"
                + " VALUES ('everything', 1, 'small', 200)");
        policies.refresh();

        assertThat(rules(policies)).containsExactly("everything", "tenants", "good");
        assertThat(admin.problems())
                .extracting(Problem::toString)
                .hasSize(5)
                .anyMatch(problem -> problem.startsWith("rate_limit_rules, cidr, version 1: rule 'cidr': addresses is"
                        + " '10.0.0.0/99'; write one such as 10.0.0.0/8"))
                .anyMatch(problem -> problem.contains("unknown, version 1: rule 'unknown': limits is 'nowhere'"))
                .anyMatch(problem -> problem.contains("expression, version 1: rule 'expression': key is"))
                .anyMatch(problem -> problem.contains(
                        "good, version 2: rule 'good': action is 'explode'; write one of throttle, block, allow"))
                .anyMatch(problem -> problem.contains("everything, version 1: rule 'everything': response.status"));
        assertThat(admin.rules().history("good"))
                .extracting(Version::state)
                .containsExactly(Version.State.BROKEN, Version.State.SET);
    }

    @Test
    void aBrokenVersionIsNotRolledBackTo() {
        insertLimit("standard", 1, "what is this");
        database.execute("INSERT INTO %srate_limit_rules (rule_name, version, limits, action)"
                + " VALUES ('api', 1, 'small', 'explode')");

        assertThatThrownBy(() -> admin.limits().rollback("standard", 1, OPS))
                .isInstanceOf(InvalidLimitException.class)
                .hasMessageContaining("definition is 'what is this'");
        assertThatThrownBy(() -> admin.rules().rollback("api", 1, OPS))
                .isInstanceOf(InvalidRuleException.class)
                .hasMessageContaining("action is 'explode'");
        assertThat(admin.rules().history("api").get(0).problem()).contains("action is 'explode'");
    }

    @Test
    void aDisabledRuleHidesTheConfiguredOneWhateverIsInItsRow() {
        database.execute("INSERT INTO %srate_limit_rules (rule_name, version, enabled, action)"
                + " VALUES ('everything', 1, " + disabled() + ", 'explode')");
        policies.refresh();

        assertThat(rules(policies)).containsExactly("tenants");
        assertThat(admin.rules().rollback("everything", 1, OPS).state()).isEqualTo(Version.State.DISABLED);
        assertThat(rules(policies)).containsExactly("tenants");
    }

    private String disabled() {
        return product() == DatabaseProduct.SQLITE ? "0" : "false";
    }

    @Test
    void aVersionWithoutAnAuthorIsRead() {
        database.execute("INSERT INTO %srate_limit_configs (resource, version, definition, changed_by)"
                + " VALUES ('api', 1, 'base: small', '')");
        policies.refresh();

        assertThat(capacity(policies, "api")).isEqualTo(2);
        assertThat(admin.limits().history("api").get(0).by()).isEqualTo("unknown");
    }

    @Test
    void ofACycleOfBasesTheNewestIsSkipped() {
        insertLimit("a", 1, "base: standard");
        insertLimit("b", 1, "base: a");
        insertLimit("a", 2, "base: b");
        insertLimit("standard", 1, "base: b");
        policies.refresh();

        assertThat(capacity(policies, "a")).isEqualTo(10);
        assertThat(capacity(policies, "b")).isEqualTo(10);
        assertThat(admin.problems())
                .extracting(problem -> problem.name() + " " + problem.version())
                .containsExactlyInAnyOrder("a 2", "standard 1");
    }

    @Test
    void twoVersionsOfOneNameAndNumberAreRefusedByTheDatabase() {
        insertLimit("api", 1, "base: small");

        assertThatThrownBy(() -> insertLimit("api", 1, "base: standard")).isInstanceOf(DataAccessException.class);
        policies.refresh();
        assertThat(capacity(policies, "api")).isEqualTo(2);
    }

    // Several instances

    @Test
    void otherInstancesSeeAChangeByPolling() {
        StoredPolicies other = instance(ofMillis(20), false, ChangeListener.NONE);

        admin.limits().set("standard", window(77), OPS);
        admin.rules().set(Rule.named("new").limits("small").build(), OPS);
        admin.quotas().set("bob", "premium", Quota.NONE, Change.by("ops"));
        IssuedKey key = admin.keys().create(NewApiKey.of("ci", "bob"), Change.by("ops"));

        await().until(() -> capacity(other, "standard") == 77
                && rules(other).contains("new")
                && other.accounts().find("bob") != null
                && other.apiKeys().recognise(key.secret()) != null);
    }

    @Test
    void aResetIsToldToOtherInstances() {
        List<String> told = new CopyOnWriteArrayList<>();
        StoredPolicies other = instance(NEVER, false, subject -> told.add(String.valueOf(subject)));
        limiter.decide(ALICE, "small");
        limiter.decide(ALICE, "small");
        assertThat(limiter.decide(ALICE, "small").allowed()).isFalse();

        assertThat(admin.reset(ALICE, "small", Change.by("ops"))).isTrue();
        assertThat(limiter.decide(ALICE, "small").allowed()).isTrue();
        other.refresh();
        assertThat(told).containsExactly("user:alice");

        admin.limits().set("standard", window(3), OPS);
        other.refresh();
        assertThat(told).containsExactly("user:alice", "null");

        // Which subject it was is told even if something else has changed, too.
        admin.limits().set("standard", window(4), OPS);
        admin.reset(ALICE, "small", Change.by("ops"));
        other.refresh();
        assertThat(told).containsExactly("user:alice", "null", "user:alice", "null");
    }

    @Test
    void whoHasMissedChangesThatArePrunedReadsAllAgain() {
        admin.limits().set("standard", window(50), OPS);
        StoredPolicies other = instance(NEVER, false, ChangeListener.NONE);
        admin.limits().set("standard", window(60), OPS);
        admin.limits().set("api", window(1), OPS);
        database.execute("UPDATE %srate_limit_changes SET changed_at = 0");
        admin.limits().set("other", window(1), OPS);
        assertThat(database.count("rate_limit_changes")).isEqualTo(1);

        other.refresh();
        assertThat(capacity(other, "standard")).isEqualTo(60);
        assertThat(other.limits().names()).contains("api", "other");
    }

    @Test
    void moreChangesThanAreReadByNameAreSeen() {
        database.execute("INSERT INTO %suser_quotas (user_id, tier)"
                + " WITH RECURSIVE numbers(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM numbers WHERE n < 1500)"
                + " SELECT 'user' || n, 'premium' FROM numbers");
        policies.refresh();

        assertThat(policies.accounts().find("user1500").tier()).isEqualTo("premium");
    }

    @Test
    void concurrentWritersLoseNothing() throws Exception {
        int writers = 4;
        int writes = 5;
        ExecutorService threads = Executors.newFixedThreadPool(writers);
        try {
            CyclicBarrier together = new CyclicBarrier(writers);
            List<Future<?>> running = new ArrayList<>();
            for (int i = 0; i < writers; i++) {
                RateLimitAdmin other = new RateLimitAdmin(instance(NEVER, false, ChangeListener.NONE), limiter);
                int writer = i;
                running.add(threads.submit(() -> {
                    together.await(10, TimeUnit.SECONDS);
                    for (int n = 1; n <= writes; n++) {
                        other.limits().set("api", window(writer * 100L + n), Change.by("writer" + writer));
                        other.limits().set("own" + writer, window(n), Change.by("writer" + writer));
                    }
                    return null;
                }));
            }
            for (Future<?> each : running) {
                each.get(120, TimeUnit.SECONDS);
            }
        } finally {
            threads.shutdownNow();
        }
        policies.refresh();
        List<Version<Map<String, String>>> history = admin.limits().history("api");
        assertThat(history)
                .extracting(Version::number)
                .containsExactlyElementsOf(IntStream.iterate(writers * writes, n -> n > 0, n -> n - 1)
                        .boxed()
                        .toList());
        assertThat(history.stream().map(Version::content).distinct()).hasSize(writers * writes);
        assertThat(admin.limits().find("api").content())
                .isEqualTo(history.get(0).content());
        for (int writer = 0; writer < writers; writer++) {
            assertThat(capacity(policies, "own" + writer)).isEqualTo(writes);
        }
    }

    // The examples of the designs

    @Test
    void theDefaultConfigurationsOfTheFirstDesign() {
        admin.limits()
                .set(
                        "api",
                        Map.of(
                                "algorithm",
                                "sliding_window",
                                "max-requests",
                                "100",
                                "window",
                                "1m",
                                "penalties",
                                "1 -> 1m, 3 -> 5m, 5 -> 15m, 10 -> 1h, 20 -> 24h"),
                        OPS);
        admin.limits()
                .set(
                        "login",
                        Map.of(
                                "algorithm",
                                "fixed_window",
                                "max-requests",
                                "5",
                                "window",
                                "1m",
                                "penalties",
                                "1 -> 5m, 3 -> 30m, 5 -> 2h"),
                        OPS);
        admin.limits().set("upload", Map.of("algorithm", "token_bucket", "burst", "5", "refill", "1/s"), OPS);

        Map.of("api", 100, "login", 5, "upload", 5).forEach((limit, most) -> {
            for (int i = 0; i < most; i++) {
                assertThat(limiter.decide(ALICE, limit).allowed()).as(limit).isTrue();
            }
            assertThat(limiter.decide(ALICE, limit).allowed()).as(limit).isFalse();
        });
        assertThat(limiter.peek(ALICE, "api").limits().get(0).penaltyUntil())
                .isEqualTo(clock.instant().plus(ofMinutes(1)));
        assertThat(limiter.peek(ALICE, "login").limits().get(0).penaltyUntil())
                .isEqualTo(clock.instant().plus(ofMinutes(5)));
        clock.move(Duration.ofSeconds(1));
        assertThat(limiter.decide(ALICE, "upload").allowed()).isTrue();
        assertThat(limiter.decide(ALICE, "upload").allowed()).isFalse();
    }

    @Test
    void theExampleRulesOfTheSecondDesign() {
        admin.limits().set("free_tier", Map.of("algorithm", "token-bucket", "burst", "20", "refill", "1000/h"), OPS);
        admin.limits().set("api_v1", Map.of("algorithm", "sliding-window", "max-requests", "100", "window", "1s"), OPS);
        admin.rules()
                .set(
                        Rule.named("free_tier_limit")
                                .priority(700)
                                .tiers("free")
                                .limits("free_tier")
                                .build(),
                        OPS);
        admin.rules()
                .set(
                        Rule.named("api_v1_limit")
                                .priority(600)
                                .path("/api/v1/*")
                                .limits("api_v1")
                                .build(),
                        OPS);

        Explanation free = admin.explain(Inquiry.of("GET", "/api/v1/users").user("alice"));
        assertThat(free.applying())
                .extracting(one -> one.rule().name())
                .containsExactly("free_tier_limit", "api_v1_limit", "everything");
        assertThat(free.applying().get(0).limits().get(0).decision().remaining())
                .isEqualTo(20);
        assertThat(free.applying().get(1).limits().get(0).decision().remaining())
                .isEqualTo(100);

        Explanation premium =
                admin.explain(Inquiry.of("GET", "/api/v2/users").user("alice").authorities("ROLE_GOLD"));
        assertThat(premium.applying()).extracting(one -> one.rule().name()).containsExactly("everything");
        assertThat(premium.rules().get(0).why()).isEqualTo("the tier premium is none of [free]");
        assertThat(limiter.peek(LimitRequest.of(Subject.user("alice"), "free_tier"))
                        .limits()
                        .get(0)
                        .remaining())
                .isEqualTo(20);
    }
}
