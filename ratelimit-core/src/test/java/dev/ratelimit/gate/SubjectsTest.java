package dev.ratelimit.gate;

import static dev.ratelimit.gate.TestGate.byUser;
import static dev.ratelimit.gate.TestGate.keyOf;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.ratelimit.IpAddress;
import dev.ratelimit.Subject;
import dev.ratelimit.caller.ApiKey;
import dev.ratelimit.policy.PathReadings;
import dev.ratelimit.policy.Rule;
import dev.ratelimit.policy.SubjectKey;
import dev.ratelimit.setting.InvalidSettingException;
import dev.ratelimit.support.Sha256;
import java.util.Map;
import java.util.Set;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class SubjectsTest {

    private static final String NETWORK = "ip:2001:db8:1:2:0:0:0:0/64";
    private static final Identity ALICE = new Identity("alice", Set.of());

    /** A request with these headers and that session, whose beans and expressions know nobody but {@code #known}. */
    private record Request(
            Map<String, String> headers, @Nullable String sessionId) implements LiveRequest {

        @Override
        public @Nullable String header(String name) {
            return headers.get(name);
        }

        @Override
        public @Nullable Subject resolve(String rule, SubjectKey key) {
            return key.argument().equals("#known") ? Subject.of("key", "tenant-1") : null;
        }

        @Override
        public boolean isTrue(Rule rule) {
            return true;
        }
    }

    private final TestGate gate = new TestGate();

    private @Nullable String subject(String key, @Nullable LiveRequest live, @Nullable ApiKey apiKey, Identity who) {
        Arrival arrival = new Arrival(
                "GET",
                false,
                PathReadings.of("/api"),
                IpAddress.parse("2001:db8:1:2:3:4:5:6"),
                apiKey == null ? null : () -> apiKey,
                live);
        Rule rule = byUser("rule").key(key).build();
        Sender sender = new Sender(gate.gate(), arrival);
        assertThat(sender.lookUpApiKey()).isEqualTo(apiKey);
        sender.identified(who);
        Subject subject = gate.gate().subjects().of(rule, sender);
        return subject == null ? null : subject.text();
    }

    private @Nullable String subject(String key, LiveRequest live) {
        return subject(key, live, null, ALICE);
    }

    private static final Request BARE = new Request(Map.of(), null);

    @Test
    void eachKeySaysWhoseCountItIs() {
        assertThat(subject("user", BARE)).isEqualTo("user:alice");
        assertThat(subject("ip", BARE)).isEqualTo(NETWORK);
        assertThat(subject("user+ip", BARE)).isEqualTo("user:alice+" + NETWORK);
        assertThat(subject("header:X-Tenant", new Request(Map.of("X-Tenant", " t1 "), null)))
                .isEqualTo("header:X-Tenant=t1");
        assertThat(subject("#known", BARE)).isEqualTo("key:tenant-1");
        assertThat(subject("api-key", BARE, keyOf("olga"), ALICE)).isEqualTo("api-key:key-1");
    }

    @Test
    void sessionIsNotWrittenDown() {
        String subject = subject("session", new Request(Map.of(), "secret-session"));

        assertThat(subject).startsWith("session:").doesNotContain("secret");
        assertThat(subject("session", new Request(Map.of(), "another"))).isNotEqualTo(subject);
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "Authorization",
                "Proxy-Authorization",
                "cookie",
                "X-Auth-Token",
                "X-Api-Key",
                "Client-Secret",
                "X-SESSION"
            })
    void headersThatHoldSecretsAreNotWrittenDown(String header) {
        String subject = subject("header:" + header, new Request(Map.of(header, "hidden"), null));

        assertThat(subject)
                .isEqualTo("header:" + header + "=" + Sha256.base64("hidden"))
                .isEqualTo(subject("header:" + header, new Request(Map.of(header, " hidden "), null)));
        assertThat(subject("header:" + header, new Request(Map.of(header, "another"), null)))
                .isNotEqualTo(subject);
    }

    @Test
    void keyThatFindsNobodyCountsTheAddress() {
        assertThat(subject("user", BARE, null, Identity.NOBODY)).isEqualTo(NETWORK);
        assertThat(subject("session", BARE)).isEqualTo(NETWORK);
        assertThat(subject("header:X-Tenant", BARE)).isEqualTo(NETWORK);
        assertThat(subject("header:X-Tenant", new Request(Map.of("X-Tenant", " "), null)))
                .isEqualTo(NETWORK);
        assertThat(subject("#unknown", BARE)).isEqualTo(NETWORK);
        assertThat(subject("api-key", BARE)).isEqualTo(NETWORK);
    }

    @Test
    void headerOfAnApiKeyCountsOnlyWhereKeysAreNotChecked() {
        Request sent = new Request(Map.of("X-API-Key", "secret"), null);

        assertThat(subject("api-key", sent)).isEqualTo(NETWORK);
        gate.withoutApiKeys();
        assertThat(subject("api-key", sent)).startsWith("api-key:").doesNotContain("secret");
    }

    @Test
    void onlyALiveRequestKnowsItsSessionAndHeaders() {
        assertThat(subject("session", null, null, ALICE)).isNull();
        assertThat(subject("header:X-Tenant", null, null, ALICE)).isNull();
        assertThat(subject("#known", null, null, ALICE)).isNull();
        assertThat(subject("user", null, null, ALICE)).isEqualTo("user:alice");
        assertThat(subject("api-key", null, null, ALICE)).isEqualTo(NETWORK);
    }

    @Test
    void aWrittenAddressIsCountedAsRequestsFromThere() {
        Subjects network = new Subjects(64);

        assertThat(Map.of(
                        "ip:2001:db8:1:2::9",
                        NETWORK,
                        "ip:[2001:DB8:1:2::9]:80",
                        NETWORK,
                        "ip:2001:db8:1:2::/64",
                        NETWORK,
                        "ip:2001:db8:1:2::9/64",
                        NETWORK,
                        "ip:2001:db8:1:2::9/128",
                        "ip:2001:db8:1:2:0:0:0:9/128",
                        "ip:192.0.2.1",
                        "ip:192.0.2.1",
                        "user:alice+ip:2001:db8:1:2::9",
                        "user:alice+" + NETWORK,
                        "ip:unknown",
                        "ip:unknown",
                        "ip:192.0.2.1/x",
                        "ip:192.0.2.1/x",
                        "user:ip:2001:db8:1:2::9",
                        "user:ip:2001:db8:1:2::9"))
                .allSatisfy((written, counted) -> assertThat(network.counted(Subject.ofText(written)))
                        .as(written)
                        .hasToString(counted));
    }

    @Test
    void networkOfAnAddressStandsForTheClient() {
        Subjects whole = new Subjects(Subjects.WHOLE_ADDRESS);
        Subjects network = new Subjects(48);

        assertThat(network.client(IpAddress.parse("2001:db8:1:2::9"))).isEqualTo("2001:db8:1:0:0:0:0:0/48");
        assertThat(whole.client(IpAddress.parse("2001:db8:1:2::9"))).isEqualTo("2001:db8:1:2:0:0:0:9/128");
        assertThat(network.client(IpAddress.parse("192.0.2.1"))).isEqualTo("192.0.2.1");
        assertThat(network.client(null)).isEqualTo("unknown");
        assertThatThrownBy(() -> new Subjects(0)).isInstanceOf(InvalidSettingException.class);
        assertThatThrownBy(() -> new Subjects(129)).isInstanceOf(InvalidSettingException.class);
    }
}
