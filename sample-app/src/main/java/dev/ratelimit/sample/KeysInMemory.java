package dev.ratelimit.sample;

import dev.ratelimit.caller.ApiKey;
import dev.ratelimit.caller.ApiKeys;
import dev.ratelimit.caller.Quota;
import java.util.Map;
import java.util.UUID;
import java.util.concurrent.ConcurrentHashMap;
import org.jspecify.annotations.Nullable;
import org.springframework.boot.autoconfigure.condition.ConditionalOnProperty;
import org.springframework.stereotype.Component;

/** The API keys of a sample that keeps nothing: an application brings its own as a bean of type {@link ApiKeys}. */
@Component
@ConditionalOnProperty(name = "ratelimit.store.type", havingValue = "memory")
@ConditionalOnProperty(name = "ratelimit.policy.store", havingValue = "auto", matchIfMissing = true)
class KeysInMemory implements ApiKeys {

    private final Map<String, ApiKey> bySecret = new ConcurrentHashMap<>();

    @Override
    public @Nullable ApiKey recognise(String secret) {
        return bySecret.get(secret);
    }

    /** Makes an API key and gives its secret. */
    String create(String name, String owner, String tier) {
        String secret = "rl_" + UUID.randomUUID().toString().replace("-", "");
        bySecret.put(secret, new ApiKey(tier, name, owner, tier, Quota.NONE));
        return secret;
    }
}
