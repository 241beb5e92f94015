package dev.ratelimit.data;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dev.ratelimit.LimitRequest;
import dev.ratelimit.Subject;
import dev.ratelimit.admin.ApiKeyAdmin;
import dev.ratelimit.admin.NewApiKey;
import dev.ratelimit.policy.Rule;
import dev.ratelimit.schema.Schema;
import dev.ratelimit.store.jdbc.DatabaseProduct;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CopyOnWriteArrayList;
import org.junit.jupiter.api.Test;

/** Without triggers, the change feed is filled by {@code RateLimitAdmin}, and polling reads it. */
class PlainTablesTest extends DataContract {

    @Override
    protected TestDatabase create() {
        return TestDatabase.plain();
    }

    @Override
    protected DatabaseProduct product() {
        return DatabaseProduct.POSTGRESQL;
    }

    @Test
    void noFunctionsTriggersOrPartitions() {
        assertThat(database.query(
                        "SELECT proname FROM pg_proc WHERE pronamespace = to_regnamespace(quote_ident(?))",
                        database.schema()))
                .isEmpty();
        assertThat(database.query(
                        "SELECT relname FROM pg_class WHERE relnamespace = to_regnamespace(quote_ident(?))"
                                + " AND (relhastriggers OR relkind = 'p' OR relispartition)",
                        database.schema()))
                .isEmpty();
    }

    @Test
    void changesOfEveryKindReachAnotherInstanceByPolling() {
        List<String> resets = new CopyOnWriteArrayList<>();
        StoredPolicies other = instance(Duration.ofMillis(20), true, subject -> resets.add(String.valueOf(subject)));

        admin.limits().set("standard", window(77), OPS);
        admin.rules().set(Rule.named("extra").limits("small").key("user").build(), OPS);
        admin.quotas().block("mallory", OPS);
        ApiKeyAdmin.IssuedKey key = admin.keys().create(NewApiKey.of("test", "alice"), OPS);

        await().atMost(Duration.ofSeconds(20)).untilAsserted(() -> {
            assertThat(capacity(other, "standard")).isEqualTo(77);
            assertThat(rules(other)).contains("extra");
            assertThat(other.accounts().find("mallory")).isNotNull();
            assertThat(other.apiKeys().recognise(key.secret())).isNotNull();
        });

        admin.keys().revoke(key.id(), OPS);
        admin.quotas().unblock("mallory", OPS);

        await().atMost(Duration.ofSeconds(20)).untilAsserted(() -> {
            assertThat(other.accounts().find("mallory")).isNull();
            assertThat(other.apiKeys().recognise(key.secret())).isNull();
        });
        assertThat(database.query("SELECT revision FROM %srate_limit_changes ORDER BY revision"))
                .extracting(row -> row.get("revision"))
                .containsExactly(1L, 2L, 3L, 4L, 5L, 6L);
        assertThat(database.query("SELECT revision FROM %srate_limit_revision"))
                .isEqualTo(List.of(Map.of("revision", 6L)));
        assertThat(resets).isNotEmpty();
    }

    @Test
    void migratingAgainChangesNothing() {
        limiter.decide(LimitRequest.of(Subject.user("alice"), "standard"));

        Schema.migratePlain(database.dataSource(), database.schema());
        Schema.migrate(database.dataSource(), database.schema());
        Schema.require(database.dataSource(), database.schema());

        assertThat(database.count("rate_limits")).isEqualTo(1);
        assertThat(database.count("rate_limit_revision")).isEqualTo(1);
    }
}
