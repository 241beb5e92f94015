/** Decides in this process while the store is unavailable, and charges the store afterwards. Internal: it may change at any time. */
@NullMarked
package dev.ratelimit.engine.local;

import org.jspecify.annotations.NullMarked;
