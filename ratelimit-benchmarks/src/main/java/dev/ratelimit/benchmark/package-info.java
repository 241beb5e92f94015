/** Measures the rate limiter beside what one would use instead. */
@NullMarked
package dev.ratelimit.benchmark;

import org.jspecify.annotations.NullMarked;
