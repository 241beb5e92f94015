/**
 * Internal: decides groups by swaps instead of locks, for stores that can only write a row if it is still as it was read. It
 * may change at any time.
 */
@NullMarked
package dev.ratelimit.store.swap;

import org.jspecify.annotations.NullMarked;
