/**
 * What is counted and timed, for Micrometer.
 */
@NullMarked
package dev.ratelimit.metrics;

import org.jspecify.annotations.NullMarked;
