/** The store in Redis: one server, Sentinel or a cluster. */
@NullMarked
package dev.ratelimit.store.redis;

import org.jspecify.annotations.NullMarked;
