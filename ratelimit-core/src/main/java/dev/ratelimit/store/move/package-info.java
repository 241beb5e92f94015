/**
 * The move from one store to another, with both counted meanwhile. Internal: it may change at any time.
 */
@NullMarked
package dev.ratelimit.store.move;

import org.jspecify.annotations.NullMarked;
