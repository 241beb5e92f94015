/**
 * Counters and timers for Micrometer. Internal: it may change at any time.
 */
@NullMarked
package dev.ratelimit.metrics;

import org.jspecify.annotations.NullMarked;
