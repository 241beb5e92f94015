package dev.ratelimit.web.servlet.filter;

import static org.assertj.core.api.Assertions.assertThat;

import dev.ratelimit.caller.Accounts;
import dev.ratelimit.caller.Tiers;
import dev.ratelimit.gate.Arrival;
import dev.ratelimit.gate.Exemptions;
import dev.ratelimit.gate.Gate;
import dev.ratelimit.gate.Identity;
import dev.ratelimit.gate.Subjects;
import dev.ratelimit.gate.Visit;
import dev.ratelimit.policy.AddressRange;
import dev.ratelimit.policy.PathReadings;
import dev.ratelimit.policy.Policy;
import dev.ratelimit.policy.PolicyConfiguration;
import dev.ratelimit.policy.RuleBook.MatchMode;
import dev.ratelimit.web.ClientAddresses;
import dev.ratelimit.web.ClientAddresses.Connection;
import dev.ratelimit.web.ForwardingHeader;
import dev.ratelimit.web.expression.Expressions;
import jakarta.servlet.http.HttpServletRequest;
import jakarta.servlet.http.HttpServletRequestWrapper;
import java.time.InstantSource;
import java.time.ZoneOffset;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.springframework.beans.factory.support.StaticListableBeanFactory;
import org.springframework.boot.test.system.CapturedOutput;
import org.springframework.boot.test.system.OutputCaptureExtension;
import org.springframework.mock.web.MockHttpServletRequest;
import org.springframework.web.util.pattern.PathPatternParser;

class ClientAddressesTest {

    private static final List<AddressRange> PROXIES =
            List.of(AddressRange.parse("10.0.0.0/8"), AddressRange.parse("fd00::/8"));

    private final StaticListableBeanFactory beans = new StaticListableBeanFactory();
    private final Subjects subjects = new Subjects(64);
    private final ServletRequests requests = new ServletRequests(
            new ClientAddresses(PROXIES, ForwardingHeader.AUTO),
            subjects,
            request -> Set.of(),
            new Expressions(beans),
            beans,
            null);

    @Test
    void connectionOfAStrangerIsTheClientWhateverItsHeadersSay() {
        assertThat(client("203.0.113.7", "198.51.100.1", null)).isEqualTo("203.0.113.7");
        assertThat(client("203.0.113.7", null, "for=198.51.100.1")).isEqualTo("203.0.113.7");
    }

    @Test
    void headersOfATrustedProxyAreReadFromTheRight() {
        assertThat(client("10.0.0.1", "198.51.100.1", null)).isEqualTo("198.51.100.1");
        assertThat(client("10.0.0.1", "1.1.1.1, 198.51.100.1", null)).isEqualTo("198.51.100.1");
        assertThat(client("10.0.0.1", "1.1.1.1, 198.51.100.1, 10.0.0.9", null)).isEqualTo("198.51.100.1");
        assertThat(client("10.0.0.1", null, "for=1.1.1.1;proto=http, For=\"[2001:db8:1:2:3::4]:80\";by=10.0.0.9"))
                .isEqualTo("2001:db8:1:2:0:0:0:0/64");
    }

    @Test
    void separatorsWithinQuotesSeparateNothing() {
        assertThat(client("10.0.0.1", null, "for=1.2.3.4;host=\"a,for=9.9.9.9;x=\""))
                .isEqualTo("1.2.3.4");
        assertThat(client("10.0.0.1", null, "for=1.2.3.4;host=\"a;for=9.9.9.9\""))
                .isEqualTo("1.2.3.4");
        assertThat(client("10.0.0.1", null, "host=\"\\\",for=9.9.9.9\";for=1.2.3.4"))
                .isEqualTo("1.2.3.4");
        assertThat(client("10.0.0.1", null, "for=9.9.9.9, by=\"x\"; FOR = \"1.2.3.4:80\""))
                .isEqualTo("1.2.3.4");
    }

    /** The client may open a quote so that it swallows the entry of the proxy. */
    @Test
    void quoteThatIsNotClosedHidesNothing() {
        assertThat(client("10.0.0.1", null, "for=\"9.9.9.9, for=1.2.3.4")).isEqualTo("1.2.3.4");
        assertThat(client("10.0.0.1", null, "for=9.9.9.9;host=\", for=1.2.3.4")).isEqualTo("1.2.3.4");
    }

    /** If each of them were searched for its end, a request would keep a processor busy before any limit applies. */
    @Test
    @Timeout(value = 60, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
    void manyQuotesThatAreNotClosedAreReadOnce() {
        String quotes = "\"" + "\\\"".repeat(1_000_000);
        assertThat(client("10.0.0.1", null, "for=9.9.9.9;host=" + quotes + ", for=1.2.3.4"))
                .isEqualTo("1.2.3.4");
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "for=9.9.9.9;host=\"",
                "for=9.9.9.9;host",
                "for=\"x, for=\"1.2.3.4\"",
                "for=9.9.9.9;for=8.8.8.8",
                "for=\"9.9.9.9\\",
                "for=9.9.9.9\"",
                "host=\"a;for=9.9.9.9"
            })
    void malformedElementIsAnUnknownHop(String forwarded) {
        assertThat(client("10.0.0.1", null, forwarded)).isEqualTo("10.0.0.1");
    }

    @Test
    @ExtendWith(OutputCaptureExtension.class)
    void proxyThatIsNotTrustedIsNamedOnce(CapturedOutput output) {
        client("203.0.113.7", null, null);
        assertThat(output).doesNotContain("trusted-proxies");

        client("203.0.113.7", "198.51.100.1", null);
        client("203.0.113.8", null, "for=198.51.100.1");

        assertThat(output)
                .containsOnlyOnce("ratelimit.identity.trusted-proxies")
                .contains("from 203.0.113.7, which is not a trusted proxy");
    }

    @Test
    void linesOfAHeaderAreOneList() {
        MockHttpServletRequest request = request("10.0.0.1");
        request.addHeader("X-Forwarded-For", "1.1.1.1");
        request.addHeader("X-Forwarded-For", "198.51.100.1");

        assertThat(requests.clientOf(request)).isEqualTo("198.51.100.1");
    }

    @Test
    void entryThatIsNoAddressEndsTheTrust() {
        assertThat(client("10.0.0.1", "1.1.1.1, unknown", null)).isEqualTo("10.0.0.1");
        assertThat(client("10.0.0.1", "1.1.1.1, _hidden, 10.0.0.9", null)).isEqualTo("10.0.0.9");
        assertThat(client("10.0.0.1", "", null)).isEqualTo("10.0.0.1");
    }

    @Test
    void proxiesAllTheWayAreTheFarthestOfThem() {
        assertThat(client("10.0.0.1", "10.0.0.3, 10.0.0.2", null)).isEqualTo("10.0.0.3");
    }

    @Test
    @ExtendWith(OutputCaptureExtension.class)
    void headersThatDisagreeAreNotBelieved(CapturedOutput output) {
        assertThat(client("10.0.0.1", "198.51.100.1", "for=198.51.100.1")).isEqualTo("198.51.100.1");
        assertThat(output).doesNotContain("disagree");
        assertThat(client("10.0.0.1", "198.51.100.1", "for=1.1.1.1")).isEqualTo("10.0.0.1");
        assertThat(client("10.0.0.1", "198.51.100.1", "for=2.2.2.2")).isEqualTo("10.0.0.1");
        assertThat(output).containsOnlyOnce("ratelimit.identity.forwarded-header");
    }

    /** Any request without the header of the client shows which one the proxy writes. */
    @Test
    void secondHeaderGainsNoSecondCount() {
        assertThat(client("10.0.0.1", "198.51.100.1", null)).isEqualTo("198.51.100.1");
        assertThat(client("10.0.0.1", "198.51.100.1", "for=1.1.1.1")).isEqualTo("198.51.100.1");
        assertThat(client("10.0.0.1", "198.51.100.1", "for=2.2.2.2")).isEqualTo("198.51.100.1");

        assertThat(client("10.0.0.2", null, "for=198.51.100.1")).isEqualTo("198.51.100.1");
        assertThat(client("10.0.0.2", "1.1.1.1", "for=198.51.100.1")).isEqualTo("198.51.100.1");

        client("10.0.0.3", null, null);
        assertThat(client("10.0.0.3", "198.51.100.1", "for=1.1.1.1"))
                .as("a health check of the proxy shows nothing")
                .isEqualTo("10.0.0.3");

        client("10.0.0.4", "198.51.100.1", null);
        client("10.0.0.4", null, "for=198.51.100.1");
        assertThat(client("10.0.0.4", "198.51.100.1", "for=1.1.1.1"))
                .as("a proxy that writes now the one, now the other")
                .isEqualTo("10.0.0.4");
    }

    @Test
    void onlyTheChosenHeaderIsRead() {
        ClientAddresses forwardedFor = new ClientAddresses(PROXIES, ForwardingHeader.X_FORWARDED_FOR);
        ClientAddresses forwarded = new ClientAddresses(PROXIES, ForwardingHeader.FORWARDED);
        Connection both = new Connection("10.0.0.1", List.of("198.51.100.1"), List.of("for=1.1.1.1"), false);
        assertThat(forwardedFor.addressOf(both)).hasToString("198.51.100.1");
        assertThat(forwarded.addressOf(both)).hasToString("1.1.1.1");
        assertThat(forwardedFor.addressOf(new Connection("10.0.0.1", List.of(), List.of("for=1.1.1.1"), false)))
                .as("the proxy itself")
                .hasToString("10.0.0.1");
    }

    /** Otherwise all clients would count as one without a word. */
    @Test
    @ExtendWith(OutputCaptureExtension.class)
    void proxyThatWritesAnotherHeaderThanTheChosenOneIsNamedOnce(CapturedOutput output) {
        ClientAddresses forwarded = new ClientAddresses(PROXIES, ForwardingHeader.FORWARDED);
        forwarded.addressOf(new Connection("10.0.0.1", List.of(), List.of(), false));
        forwarded.addressOf(new Connection("10.0.0.1", List.of("198.51.100.1"), List.of("for=1.1.1.1"), false));
        assertThat(output).doesNotContain("forwarded-header");

        forwarded.addressOf(new Connection("10.0.0.1", List.of("198.51.100.1"), List.of(), false));
        forwarded.addressOf(new Connection("10.0.0.2", List.of("198.51.100.2"), List.of(), false));

        assertThat(output)
                .containsOnlyOnce("ratelimit.identity.forwarded-header")
                .contains("from the trusted proxy 10.0.0.1 lacks the header");
    }

    @ParameterizedTest
    @ValueSource(strings = {"203.0.113.7", "10.0.0.1"})
    @ExtendWith(OutputCaptureExtension.class)
    void proxyThatWritesOnlyTheRealAddressIsNamedOnce(String peer, CapturedOutput output) {
        MockHttpServletRequest request = request(peer);
        request.addHeader("X-Real-IP", "198.51.100.1");
        assertThat(requests.clientOf(request)).isEqualTo(peer);
        requests.clientOf(request);
        assertThat(output).containsOnlyOnce("Ignoring X-Real-IP from " + peer);

        MockHttpServletRequest both = request("10.0.0.2");
        both.addHeader("X-Real-IP", "198.51.100.1");
        both.addHeader("X-Forwarded-For", "198.51.100.1");
        assertThat(requests.clientOf(both)).isEqualTo("198.51.100.1");
        assertThat(output).containsOnlyOnce("X-Real-IP");
    }

    @Test
    void portsZonesAndMappedAddressesMakeNoDifference() {
        assertThat(client("::ffff:203.0.113.7", null, null)).isEqualTo("203.0.113.7");
        assertThat(client("fe80::1%eth0", null, null)).isEqualTo("fe80:0:0:0:0:0:0:0/64");
        assertThat(client("10.0.0.1", "198.51.100.1:4711", null)).isEqualTo("198.51.100.1");
        assertThat(client("2001:db8:1:2:a::1", null, null)).isEqualTo(client("2001:db8:1:2:b::2", null, null));
    }

    @Test
    void whatAWrapperMadeOfTheHeadersIsNotLookedAt() {
        MockHttpServletRequest request = request("10.0.0.1");
        request.addHeader("X-Forwarded-For", "1.1.1.1, 198.51.100.1");
        HttpServletRequest wrapped = new HttpServletRequestWrapper(request) {
            @Override
            public String getRemoteAddr() {
                return "1.1.1.1";
            }

            @Override
            public java.util.Enumeration<String> getHeaders(String name) {
                return java.util.Collections.emptyEnumeration();
            }
        };

        assertThat(requests.clientOf(wrapped)).isEqualTo("198.51.100.1");
    }

    @Test
    void proxyIsNotExemptByItsAddressSoThatNobodyHidesBehindIt() {
        Exemptions exemptions = new Exemptions(
                Set.of(),
                List.of(AddressRange.parse("10.0.0.0/8")),
                PROXIES,
                List.of(),
                PathPatternParser.defaultInstance);
        Gate gate = gate(exemptions);
        MockHttpServletRequest disagreeing = request("10.0.0.1");
        disagreeing.addHeader("X-Forwarded-For", "198.51.100.1");
        disagreeing.addHeader("Forwarded", "for=8.8.8.8");

        Visit visit = gate.visit(arrival(disagreeing), Gate.Mode.CHARGE);
        assertThat(visit.isExempt(Identity.NOBODY)).isFalse();
    }

    @Test
    void addressIsExemptUnlessItIsAProxy() {
        Exemptions exemptions = new Exemptions(
                Set.of(),
                List.of(AddressRange.parse("192.0.2.0/24")),
                PROXIES,
                List.of(),
                PathPatternParser.defaultInstance);
        Gate gate = gate(exemptions);

        Visit visit = gate.visit(arrival(request("192.0.2.7")), Gate.Mode.CHARGE);
        assertThat(visit.isExempt(Identity.NOBODY)).isTrue();
    }

    private Arrival arrival(MockHttpServletRequest request) {
        return requests.arrival(request, PathReadings.of("/"), requests.live(request));
    }

    private Gate gate(Exemptions exemptions) {
        Policy withoutRules = new PolicyConfiguration(
                        Map.of(),
                        List.of(),
                        new Tiers("free", Map.of(), Map.of(), ZoneOffset.UTC),
                        MatchMode.ALL,
                        PathPatternParser.defaultInstance)
                .policy();
        return new Gate(() -> withoutRules, Accounts.NONE, exemptions, subjects, null, InstantSource.system());
    }

    private String client(String peer, String forwardedFor, String forwarded) {
        MockHttpServletRequest request = request(peer);
        if (forwardedFor != null) {
            request.addHeader("X-Forwarded-For", forwardedFor);
        }
        if (forwarded != null) {
            request.addHeader("Forwarded", forwarded);
        }
        return requests.clientOf(request);
    }

    private static MockHttpServletRequest request(String peer) {
        MockHttpServletRequest request = new MockHttpServletRequest();
        request.setRemoteAddr(peer);
        return request;
    }
}
