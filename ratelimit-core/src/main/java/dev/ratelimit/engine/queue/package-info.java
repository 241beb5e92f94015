/** Requests that wait at the same moment go to the store together, within a deadline and behind a breaker. Internal: it may change at any time. */
@NullMarked
package dev.ratelimit.engine.queue;

import org.jspecify.annotations.NullMarked;
