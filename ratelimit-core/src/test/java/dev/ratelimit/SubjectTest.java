package dev.ratelimit;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.nio.ByteBuffer;
import java.nio.CharBuffer;
import java.nio.charset.CharacterCodingException;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

class SubjectTest {

    @Test
    void aSubjectIsItsTypeAndItsValue() {
        assertThat(Subject.user("alice").text()).isEqualTo("user:alice");
        assertThat(Subject.ip("203.0.113.7").text()).isEqualTo("ip:203.0.113.7");
        assertThat(Subject.of("api-key", "k1")).hasToString("api-key:k1");
    }

    @Test
    void aSubjectIsOfTheTypeOfItsFirstPart() {
        Subject alice = Subject.user("alice").and(Subject.IP, "203.0.113.7");

        assertThat(alice.isOf(Subject.USER)).isTrue();
        assertThat(alice.isOf(Subject.IP)).isFalse();
        assertThat(Subject.of("user-group", "x").isOf(Subject.USER)).isFalse();
        assertThat(Subject.of("use", "r:x").isOf(Subject.USER)).isFalse();
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "alice",
                "alice@example.com",
                "2001:db8::7",
                "Alice Smith",
                "O'Brien",
                "say \"hi\"",
                "a/b|c\\d",
                "'; DROP TABLE rate_limits; --",
                "$1 ? :x {y} [z]",
                "Zoë",
                "名前",
                "😀",
                "نور"
            })
    void ordinaryValuesStayReadable(String value) {
        assertThat(Subject.user(value).text()).isEqualTo("user:" + value);
    }

    @Test
    void aSubjectIsFoundAgainByItsText() {
        for (Subject subject : List.of(
                Subject.user("alice"),
                Subject.user("a+b").and("ip", "2001:db8::7"),
                Subject.of("header", "X-Tenant=5 % ~"),
                Subject.user("x".repeat(500)))) {
            assertThat(Subject.ofText(subject.text())).isEqualTo(subject);
        }
        for (String none :
                List.of("", "alice", "user:", "USER:alice", "user:a\nb", "user:\uD83D", "user:" + "x".repeat(200))) {
            assertThatThrownBy(() -> Subject.ofText(none))
                    .isInstanceOf(IllegalArgumentException.class)
                    .hasMessageContaining("write it as in user:alice");
        }
    }

    @Test
    void blanksAroundAValueDoNotCount() {
        assertThat(Subject.user(" \t alice\r\n\u2003")).isEqualTo(Subject.user("alice"));
        assertThat(Subject.user("al  ice").text()).isEqualTo("user:al  ice");
        assertThat(Subject.user("alice").and("ip", " 1 ").text()).isEqualTo("user:alice+ip:1");
    }

    @ParameterizedTest
    @ValueSource(strings = {"", " ", "\t\r\n", "\u2003"})
    void anEmptyValueIsRefused(String value) {
        assertThatThrownBy(() -> Subject.user(value))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessage("subject 'user' is empty; give it a value that tells one from another");
        assertThatThrownBy(() -> Subject.user("alice").and("ip", value))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessage("subject 'ip' is empty; give it a value that tells one from another");
    }

    @ParameterizedTest
    @ValueSource(strings = {"", "User", "7up", "-a", "user:", "a+b", "a b", "ü", "abcdefghijklmnopqrstuvwxyzabcdefg"})
    void aTypeOfOtherCharactersIsRefused(String type) {
        String message = "subject type is '" + type
                + "'; write 1 to 32 lower-case letters, digits or '-', a letter first, such as user";
        assertThatThrownBy(() -> Subject.of(type, "alice"))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessage(message);
        assertThatThrownBy(() -> Subject.user("alice").and(type, "x"))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessage(message);
    }

    @Test
    void severalPartsMakeOneSubject() {
        Subject both = Subject.user("alice").and("ip", "203.0.113.7");

        assertThat(both.text()).isEqualTo("user:alice+ip:203.0.113.7");
        assertThat(both.and("path", "/login").text()).isEqualTo("user:alice+ip:203.0.113.7+path:/login");
        assertThat(both).isNotEqualTo(Subject.ip("203.0.113.7").and("user", "alice"));
        assertThat(both).isNotEqualTo(Subject.user("alice+ip:203.0.113.7"));
        assertThat(both).isNotEqualTo(Subject.user("alice"));
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            value = {
                "a+b | user:a%2Bb",
                "100% | user:100%25",
                "a%2Bb | user:a%252Bb",
                "~root | user:%7Eroot",
                "a:b | user:a:b"
            })
    void whatSeparatesIsEscaped(String value, String text) {
        assertThat(Subject.user(value).text()).isEqualTo(text);
    }

    @Test
    void controlAndFormatCharactersAreEscaped() {
        assertThat(Subject.user("a\u0000b").text()).isEqualTo("user:a%00b");
        assertThat(Subject.user("a\nb\u007F").text()).isEqualTo("user:a%0Ab%7F");
        assertThat(Subject.user("a\u0085b").text()).isEqualTo("user:a%C2%85b");
        assertThat(Subject.user("a\u2028b\u2029c").text()).isEqualTo("user:a%E2%80%A8b%E2%80%A9c");
        assertThat(Subject.user("\u202Eecila").text()).isEqualTo("user:%E2%80%AEecila");
        assertThat(Subject.user("\uFEFFalice").text()).isEqualTo("user:%EF%BB%BFalice");
        assertThat(Subject.user("\u00ADalice").text()).isEqualTo("user:%C2%ADalice");
        assertThat(Subject.user("a\uDB40\uDC41").text()).isEqualTo("user:a%F3%A0%81%81");
        assertThat(Subject.user("👩\u200D🚀").text()).isEqualTo("user:👩%E2%80%8D🚀");
    }

    @Test
    void loneSurrogatesAreEscaped() {
        assertThat(Subject.user("a\uD83D").text()).isEqualTo("user:a%uD83D");
        assertThat(Subject.user("\uDE00a").text()).isEqualTo("user:%uDE00a");
        assertThat(Subject.user("\uDE00\uD83D").text()).isEqualTo("user:%uDE00%uD83D");
        assertThat(Subject.user("%uD83D").text()).isEqualTo("user:%25uD83D");
    }

    @Test
    void noTextHasACharacterThatHidesOrBreaksTheLine() {
        IntStream.rangeClosed(Character.MIN_CODE_POINT, Character.MAX_CODE_POINT)
                .filter(point -> Character.isBmpCodePoint(point) || hides(Character.getType(point)))
                .filter(point -> !Character.isWhitespace(point))
                .forEach(point -> {
                    String text =
                            Subject.user(new String(Character.toChars(point))).text();
                    boolean shown = text.codePoints().map(Character::getType).noneMatch(SubjectTest::hides);
                    if (!shown || !isUtf8(text)) {
                        throw new AssertionError(String.format("U+%04X is written as '%s'", point, text));
                    }
                });
    }

    private static boolean hides(int type) {
        return type == Character.CONTROL
                || type == Character.FORMAT
                || type == Character.SURROGATE
                || type == Character.LINE_SEPARATOR
                || type == Character.PARAGRAPH_SEPARATOR;
    }

    @Test
    void composedAndDecomposedFormsAreTheSameSubject() {
        assertThat(Subject.user("Zoe\u0308")).isEqualTo(Subject.user("Zo\u00EB"));
        assertThat(Subject.user("Zoe\u0308").hashCode())
                .isEqualTo(Subject.user("Zo\u00EB").hashCode());
        assertThat(Subject.user("\u1112\u1161\u11AB")).isEqualTo(Subject.user("\uD55C"));
        assertThat(Subject.user("Zoe")).isNotEqualTo(Subject.user("Zo\u00EB"));
        assertThat(Subject.user("\uFF21")).isNotEqualTo(Subject.user("A"));
    }

    @Test
    void aTextOfTwoHundredCharactersIsWhole() {
        assertThat(Subject.user("a".repeat(195)).text()).isEqualTo("user:" + "a".repeat(195));
    }

    @Test
    void aLongerTextEndsInTheDigestOfTheWhole() {
        // openssl dgst -sha256 -binary | basenc --base64url
        assertThat(Subject.user("a".repeat(196)).text())
                .isEqualTo("user:" + "a".repeat(151) + "~gPgS4vr8YSe9IBHAAc7_bqFkr8nlJg1wlNQyqU9leKo");
        assertThat(Subject.user("a".repeat(196))).isNotEqualTo(Subject.user("a".repeat(197)));
        assertThat(Subject.user("a".repeat(300) + "x")).isNotEqualTo(Subject.user("a".repeat(300) + "y"));
    }

    @Test
    void aPartAddedToALongSubjectCountsAsAddedToTheWhole() {
        String start = "a".repeat(300);

        assertThat(Subject.user(start + "x").and("ip", "1"))
                .isNotEqualTo(Subject.user(start + "y").and("ip", "1"));
        assertThat(Subject.user(start).and("ip", "1"))
                .isEqualTo(Subject.user(start).and("ip", "1"));
        assertThat(Subject.user(start).and("ip", "1"))
                .isNotEqualTo(Subject.user(start).and("ip", "2"));
    }

    @Test
    void nobodyCanPassForTheDigestOfAnother() {
        String digested = Subject.user("a".repeat(300)).text();

        assertThat(Subject.user(digested.substring("user:".length())).text()).isNotEqualTo(digested);
    }

    @Test
    void aSurrogatePairIsNotCutInTwo() {
        for (int before = 0; before < 8; before++) {
            String text = Subject.user("a".repeat(before) + "😀".repeat(200)).text();

            assertThat(text).hasSizeBetween(199, 200).matches("user:a*(😀)+~[A-Za-z0-9_-]{43}");
            assertThat(isUtf8(text)).isTrue();
        }
    }

    @ParameterizedTest
    @ValueSource(
            strings = {"a", "%", "+", "\u0000", "é", "e\u0301", "\u0301", "😀", "\uD83D", "\u202E", "'", "ab \uDE00"})
    void aMegabyteBecomesAtMostTwoHundredCharacters(String unit) {
        String value = unit.repeat(1_000_000 / unit.length());

        Subject subject = Subject.user(value);

        assertThat(subject.text()).hasSizeBetween(199, 200);
        assertThat(isUtf8(subject.text())).isTrue();
        assertThat(subject).isEqualTo(Subject.user(value)).isNotEqualTo(Subject.user(value + unit));
    }

    @Test
    void subjectsAreSortedByText() {
        assertThat(List.of(Subject.user("b"), Subject.ip("c"), Subject.user("a")).stream()
                        .sorted())
                .containsExactly(Subject.ip("c"), Subject.user("a"), Subject.user("b"));
    }

    private static boolean isUtf8(String text) {
        try {
            ByteBuffer bytes = StandardCharsets.UTF_8.newEncoder().encode(CharBuffer.wrap(text));
            return StandardCharsets.UTF_8.newDecoder().decode(bytes).toString().equals(text);
        } catch (CharacterCodingException e) {
            return false;
        }
    }
}
