/**
 * Limits, rules, quotas and API keys that are kept in the database and change while requests are served, and
 * {@link dev.ratelimit.data.RateLimitAdmin}, which changes them.
 */
@NullMarked
package dev.ratelimit.data;

import org.jspecify.annotations.NullMarked;
