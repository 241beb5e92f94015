package dev.ratelimit.test;

import dev.ratelimit.caller.ApiKey;
import dev.ratelimit.caller.ApiKeys;
import org.jspecify.annotations.Nullable;

/**
 * The API key of {@link WithApiKey}: inject it if a client of your own has to send it.
 */
public final class TestApiKey {

    private static final String SECRET = "rl_test_with_api_key_of_this_test_only";

    private volatile @Nullable ApiKey key;

    TestApiKey() {}

    /** The key as a client has to send it. */
    public String secret() {
        if (key == null) {
            throw new IllegalStateException(
                    "This test has no API key; add @WithApiKey to the test method or to its class");
        }
        return SECRET;
    }

    void set(@Nullable ApiKey current) {
        key = current;
    }

    @Nullable
    ApiKey current() {
        return key;
    }

    /** Knows the key of the test beside those of the application. */
    ApiKeys beside(ApiKeys others) {
        return secret -> {
            ApiKey current = key;
            return current != null && secret.equals(SECRET) ? current : others.recognise(secret);
        };
    }
}
