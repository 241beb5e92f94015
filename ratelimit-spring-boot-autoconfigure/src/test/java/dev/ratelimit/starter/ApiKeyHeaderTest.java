package dev.ratelimit.starter;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class ApiKeyHeaderTest {

    @TempDir
    Path directory;

    @Test
    void whereKeysAreLookedUpNothingButARecognisedKeyHasACountOfItsOwn() throws Exception {
        try (RunningApplication application = RunningApplication.start(
                List.of(PolicyRequests.Application.class, PolicyRequests.Application.Pages.class),
                "ratelimit.store.sqlite.path=" + directory.resolve("ratelimit.db"),
                "ratelimit.api-keys.enabled=true",
                "ratelimit.api-keys.header=X-Token",
                "ratelimit.limits.one.algorithm=fixed-window",
                "ratelimit.limits.one.max-requests=1",
                "ratelimit.limits.one.window=day",
                "ratelimit.rules.keys.path=/keys",
                "ratelimit.rules.keys.key=api-key",
                "ratelimit.rules.keys.limits=one")) {
            assertThat(application.get("/keys", "X-API-Key", "first").statusCode())
                    .isEqualTo(200);
            assertThat(application.get("/keys", "X-API-Key", "second").statusCode())
                    .as("counts for the address, as the first did")
                    .isEqualTo(429);
        }
    }
}
