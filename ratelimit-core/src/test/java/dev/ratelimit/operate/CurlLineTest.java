package dev.ratelimit.operate;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.ratelimit.admin.Inquiry;
import java.util.Random;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

class CurlLineTest {

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            quoteCharacter = '\u0001',
            value = {
                "curl https://example.com/api/games | GET | /api/games",
                "curl https://example.com | GET | /",
                "curl https://example.com?q=/a | GET | /",
                "curl example.com:8080/api#top | GET | /api",
                "curl 'http://localhost:8080/a?b=1&c=2' | GET | /a",
                "curl http://[2001:db8::1]:8080/a | GET | /a",
                "curl -X DELETE /api/7 | DELETE | /api/7",
                "curl -XDELETE localhost/api/7 | DELETE | /api/7",
                "curl --request PUT localhost/a | PUT | /a",
                "curl --url localhost/a -sSi | GET | /a",
                "curl -I localhost/a | HEAD | /a",
                "curl --head localhost/a | HEAD | /a",
                "curl -d a=1 localhost/a | POST | /a",
                "curl --data-raw '{\"a\": 1}' localhost/a | POST | /a",
                "curl --json @body.json localhost/a | POST | /a",
                "curl -F file=@x localhost/a | POST | /a",
                "curl -G -d a=1 localhost/a | GET | /a",
                "curl -T file localhost/a | PUT | /a",
                "curl -o out -m 5 -x proxy:1 localhost/a | GET | /a",
                "curl --max-time 5 --compressed localhost/a | GET | /a",
                "curl localhost/a%2Fb/../c | GET | /a%2Fb/../c",
                "curl \"localhost/$HOME/`id`\" | GET | /$HOME/`id`",
                "curl localhost/a\\ b | GET | /a b",
                "curl localhost/a^b | GET | /a^b",
                "curl -H $'x: it\\'s' --data-raw $'{\"a\": \"b\\'c\"}' localhost/a | POST | /a",
            })
    void methodAndPath(String line, String method, String path) {
        Inquiry inquiry = CurlLine.parse(line).inquiry(null, "");

        assertThat(inquiry.method()).isEqualTo(method);
        assertThat(inquiry.path()).isEqualTo(path);
    }

    @Test
    void linesMayBeContinued() {
        Inquiry inquiry = CurlLine.parse("""
                curl \\
                  -u alice \\
                  'https://example.com/api'
                """).inquiry("192.0.2.1", "");

        assertThat(inquiry).isEqualTo(Inquiry.of("GET", "/api").user("alice").from("192.0.2.1"));
        assertThat(CurlLine.parse("curl \\\r\n localhost/a").inquiry(null, "").path())
                .isEqualTo("/a");
    }

    @Test
    void linesForTheCommandPromptOfWindowsAreRead() {
        String line =
                "curl ^\"https://example.com/api/games?a=1^&b=^%^22^\" ^\r\n  -X ^\"PUT^\" ^\r\n  -H ^\"accept: */*^\" ^\r\n"
                        + "  -u ^\"alice:open-sesame^\" ^\r\n  --data-raw ^\"^{^\\^\"a^\\^\":1^}^\"";

        assertThat(CurlLine.parse(line).inquiry(null, ""))
                .isEqualTo(Inquiry.of("PUT", "/api/games").user("alice"));
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "curl -u alice:open-sesame localhost/a",
                "curl -ualice:open-sesame localhost/a",
                "curl --user alice:open-sesame localhost/a",
                "curl https://alice:open-sesame@localhost/a",
                "curl https://bob@localhost/a -u alice:open-sesame",
                "curl -u alice:open-sesame https://bob@localhost/a",
                "curl -H 'Authorization: Basic YWxpY2U6b3Blbi1zZXNhbWU=' localhost/a",
                "curl --header 'authorization: basic YWxpY2U6b3Blbi1zZXNhbWU=' localhost/a",
            })
    void readsTheUserAndDropsThePassword(String line) {
        CurlLine parsed = CurlLine.parse(line);

        assertThat(parsed.inquiry(null, "").user()).isEqualTo("alice");
        assertThat(parsed.inquiry(null, "").toString() + parsed.notes()).doesNotContain("sesame");
    }

    @Test
    void readsTheIdOfAnApiKeyAndDropsTheSecret() {
        CurlLine parsed = CurlLine.parse("curl -H 'X-API-Key: rl_0123456789ab_hidden-part' localhost/a");

        assertThat(parsed.inquiry(null, "").apiKey()).isEqualTo("0123456789ab");
        assertThat(parsed.inquiry(null, "").toString() + parsed.notes()).doesNotContain("hidden-part");
        assertThat(parsed.notes()).containsExactly("of the API key only the id is read: its secret is not checked");
    }

    @Test
    void saysWhichPartsAreIgnored() {
        CurlLine parsed =
                CurlLine.parse("curl -b SESSION=hidden -H 'Authorization: Bearer hidden' -H 'X-API-Key: hidden'"
                        + " -H 'X-Forwarded-For: 192.0.2.9' localhost/a localhost/b");

        assertThat(parsed.notes())
                .containsExactly(
                        "the cookie is ignored: name the user if a session stands for one",
                        "the token is ignored: name the user that it stands for",
                        "the API key is ignored: it is not one of this library",
                        "the header x-forwarded-for is ignored: give the client's address instead",
                        "more than one URL is given: only the first is explained");
        assertThat(parsed.inquiry(null, "")).isEqualTo(Inquiry.of("GET", "/a"));
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            quoteCharacter = '\u0001',
            value = {
                "wget localhost/a | does not begin with curl",
                "curl -s | has no URL",
                "curl 'localhost/a | the quote ' is not closed",
                "curl localhost/a -H | the option -H has no value",
                "curl localhost/a --user | the option --user has no value",
            })
    void refusesAnythingElse(String line, String message) {
        assertThatThrownBy(() -> CurlLine.parse(line).inquiry(null, ""))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageContaining(message);
    }

    @Test
    void refusesAnEmptyOrOverlongLine() {
        assertThatThrownBy(() -> CurlLine.parse(" ")).hasMessageContaining("does not begin with curl");
        assertThatThrownBy(() -> CurlLine.parse("curl " + "a".repeat(20_000))).hasMessageContaining("paste at most");
    }

    /** For any pasted text, the answer is an inquiry or a message for the operator. */
    @Test
    void anyTextIsReadOrRefused() {
        Random random = new Random(7);
        String letters = "curl -XHudbIG'\"\\ \n\t/:?#%$`http://a\u00e4\ud800";
        int read = 0;
        for (int i = 0; i < 20_000; i++) {
            StringBuilder line = new StringBuilder("curl ");
            for (int length = random.nextInt(30); length > 0; length--) {
                line.append(letters.charAt(random.nextInt(letters.length())));
            }
            try {
                assertThat(CurlLine.parse(line.toString()).inquiry(null, "").path())
                        .startsWith("/");
                read++;
            } catch (IllegalArgumentException refused) {
                assertThat(refused).hasMessageMatching("(?s).*; .*");
            }
        }
        assertThat(read).isPositive();
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            value = {
                "https://example.com/shop/api/games | /shop | /api/games",
                "https://example.com/shop | /shop | /",
                "https://example.com/shopping/api | /shop | /shopping/api",
                "https://example.com/api/games | /shop | /api/games",
            })
    void contextPathIsLeftOutAndSaid(String url, String contextPath, String path) {
        CurlLine line = CurlLine.parse("curl " + url);

        assertThat(line.inquiry(null, contextPath).path()).isEqualTo(path);
        assertThat(line.notes())
                .hasSize(url.contains("/shop") && !url.contains("/shopping") ? 1 : 0)
                .allSatisfy(note -> assertThat(note).contains("without /shop"));
    }
}
