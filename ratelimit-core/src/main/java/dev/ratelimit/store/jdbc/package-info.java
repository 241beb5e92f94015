/**
 * What the stores in SQL databases share: which database it is, how a row becomes a state, and the walk that prunes rows.
 */
@NullMarked
package dev.ratelimit.store.jdbc;

import org.jspecify.annotations.NullMarked;
