package dev.ratelimit.operate;

import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * A rule.
 *
 * @param position its place in the order of evaluation, from 1; {@code null} for a rule that is switched off
 * @param enabled whether it is evaluated
 * @param properties as they are written in the configuration
 */
public record RuleView(
        @Nullable Integer position, String name, boolean enabled, Map<String, String> properties, Source source) {}
