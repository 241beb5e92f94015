package dev.ratelimit.autoconfigure;

import dev.ratelimit.admin.ApiKeyInfo;
import dev.ratelimit.admin.RateLimitAdmin;
import dev.ratelimit.autoconfigure.property.RateLimitProperties;
import dev.ratelimit.policy.Action;
import dev.ratelimit.policy.Conditions;
import dev.ratelimit.policy.PolicyConfiguration;
import dev.ratelimit.policy.Rule;
import dev.ratelimit.startup.HandlerPaths;
import dev.ratelimit.startup.ProbableMistakes;
import java.time.Instant;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;
import org.jspecify.annotations.Nullable;

/** Finds configured rules that no request can match: by their path or their API keys. */
final class UnmatchedRules implements ProbableMistakes.Finder {

    private final PolicyConfiguration configuration;
    private final RateLimitProperties properties;
    private final HandlerPaths handlers;
    private final @Nullable RateLimitAdmin admin;

    /**
     * @param admin lists the API keys; {@code null} if they are not ours
     */
    UnmatchedRules(
            PolicyConfiguration configuration,
            RateLimitProperties properties,
            HandlerPaths handlers,
            @Nullable RateLimitAdmin admin) {
        this.configuration = configuration;
        this.properties = properties;
        this.handlers = handlers;
        this.admin = admin;
    }

    @Override
    public List<String> find() {
        List<String> mistakes = new ArrayList<>();
        for (Rule rule : configuration.rules()) {
            String path = rule.conditions().path();
            if (handlers.mayServe(path)) {
                continue;
            }
            String servlet = handlers.missingServletPath(path);
            if (servlet != null) {
                mistakes.add("rule '" + rule.name() + "' has the path " + path + ", but Spring MVC serves paths below "
                        + servlet + " (spring.mvc.servlet.path): write " + servlet + path);
            } else if (handlers.isBelowContextPath(path)) {
                mistakes.add("rule '" + rule.name() + "' has the path " + path
                        + " with the context path of the application: leave that out");
            } else if (rule.action() != Action.BLOCK) {
                // A rule that blocks is often for paths that scanners try, and that no handler has.
                mistakes.add("no handler has the path " + path + " of rule '" + rule.name() + "'");
            }
        }
        addUnknownApiKeys(mistakes);
        return mistakes;
    }

    private void addUnknownApiKeys(List<String> mistakes) {
        List<Rule> ofKeys = configuration.rules().stream()
                .filter(rule -> !rule.conditions().apiKeys().isEmpty())
                .toList();
        if (ofKeys.isEmpty()) {
            return;
        }
        if (!properties.apiKeys().enabled()) {
            ofKeys.forEach(rule -> mistakes.add("rule '" + rule.name()
                    + "' is for API keys, which are not checked: write ratelimit.api-keys.enabled: true"));
            return;
        }
        if (admin == null) {
            return;
        }
        Set<String> known = new HashSet<>(Set.of(Conditions.ANY_API_KEY));
        Instant now = admin.clock().instant();
        for (ApiKeyInfo info : admin.keys().list()) {
            if (info.isActive(now)) {
                known.add(info.key().id());
                known.add(info.key().name());
            }
        }
        for (Rule rule : ofKeys) {
            Set<String> unknown = new TreeSet<>(rule.conditions().apiKeys());
            unknown.removeAll(known);
            if (!unknown.isEmpty()) {
                mistakes.add("no active API key has the id or name " + String.join(", ", unknown) + " of rule '"
                        + rule.name() + "'");
            }
        }
    }
}
