/**
 * Applies {@link dev.ratelimit.annotation.RateLimited} to calls, and finds mistakes in it at startup. Internal: it may change at any time.
 */
@NullMarked
package dev.ratelimit.annotation.interceptor;

import org.jspecify.annotations.NullMarked;
