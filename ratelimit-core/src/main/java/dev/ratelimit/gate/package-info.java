/**
 * The one walk of a request past all limits and rules. It does no I/O: it names the next question for the limiter, and gets the
 * answer. The web filters, {@code @RateLimited}, usage and explain are adapters around it.
 */
@NullMarked
package dev.ratelimit.gate;

import org.jspecify.annotations.NullMarked;
