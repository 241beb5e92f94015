/** Permits of hot subjects that are taken in advance and served without the store. Internal: it may change at any time. */
@NullMarked
package dev.ratelimit.engine.lease;

import org.jspecify.annotations.NullMarked;
