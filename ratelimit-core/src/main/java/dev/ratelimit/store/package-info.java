/**
 * Where state lives: the contract of a store, what every store does alike, and the store in memory.
 */
@NullMarked
package dev.ratelimit.store;

import org.jspecify.annotations.NullMarked;
