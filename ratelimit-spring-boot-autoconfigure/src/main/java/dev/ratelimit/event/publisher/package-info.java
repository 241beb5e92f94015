/** Publishes the events of {@code dev.ratelimit.event} on a thread of its own. Internal: it may change at any time. */
@NullMarked
package dev.ratelimit.event.publisher;

import org.jspecify.annotations.NullMarked;
