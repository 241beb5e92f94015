/**
 * Rules: which requests limits apply to and what they do, compiled into an immutable book; the tiers, quotas and API
 * keys that rules ask for.
 */
@NullMarked
package dev.ratelimit.policy;

import org.jspecify.annotations.NullMarked;
