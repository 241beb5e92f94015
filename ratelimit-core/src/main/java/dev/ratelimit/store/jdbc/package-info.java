/**
 * Internal: shared parts of the stores in SQL databases: the supported products, the columns of a state, and the walk that prunes
 * rows. It may change at any time.
 */
@NullMarked
package dev.ratelimit.store.jdbc;

import org.jspecify.annotations.NullMarked;
