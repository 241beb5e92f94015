/**
 * One store over several: each subject has its state in one of them. Internal: it may change at any time.
 */
@NullMarked
package dev.ratelimit.store.shard;

import org.jspecify.annotations.NullMarked;
