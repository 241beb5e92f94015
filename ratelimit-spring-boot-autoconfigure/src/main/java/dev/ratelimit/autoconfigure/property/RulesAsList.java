package dev.ratelimit.autoconfigure.property;

import dev.ratelimit.autoconfigure.property.RateLimitProperties.RuleSpec;
import java.util.List;
import org.springframework.boot.context.properties.ConfigurationProperties;
import org.springframework.boot.context.properties.bind.DefaultValue;

/**
 * Is never bound: {@link RateLimitProperties} reads a list as a map from indexes to rules. It adds the list to the metadata,
 * so that editors accept both.
 *
 * @param rules which requests limits apply to, as a list
 */
@ConfigurationProperties(prefix = "ratelimit")
record RulesAsList(@DefaultValue List<RuleSpec> rules) {}
