/**
 * Limits, rules, tiers, quotas and API keys, compiled into an immutable policy.
 */
@NullMarked
package dev.ratelimit.policy;

import org.jspecify.annotations.NullMarked;
