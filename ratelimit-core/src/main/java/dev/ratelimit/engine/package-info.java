/**
 * Between {@link dev.ratelimit.RateLimiter} and the store: requests that wait at the same moment are decided together.
 */
@NullMarked
package dev.ratelimit.engine;

import org.jspecify.annotations.NullMarked;
