/** Assertions on the answers of an application with limits. Start with {@link dev.ratelimit.test.assertion.RateLimitAssertions}. */
@NullMarked
package dev.ratelimit.test.assertion;

import org.jspecify.annotations.NullMarked;
