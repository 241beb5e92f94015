/**
 * Internal: the shards of a store in PostgreSQL. It may change at any time.
 */
@NullMarked
package dev.ratelimit.store.postgresql.shard;

import org.jspecify.annotations.NullMarked;
