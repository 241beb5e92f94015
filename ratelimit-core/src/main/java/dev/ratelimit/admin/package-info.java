/**
 * {@link dev.ratelimit.admin.RateLimitAdmin} lists, changes and explains limits, rules, quotas, API keys and penalties
 * while requests are served.
 */
@NullMarked
package dev.ratelimit.admin;

import org.jspecify.annotations.NullMarked;
