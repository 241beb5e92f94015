/**
 * For tests of stores: the contract of {@link dev.ratelimit.store.LimitStore}, and random histories that compare a store with
 * the one in memory.
 */
@NullMarked
package dev.ratelimit.test.store;

import org.jspecify.annotations.NullMarked;
