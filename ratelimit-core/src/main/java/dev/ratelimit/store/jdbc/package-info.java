/**
 * What the stores in SQL databases share: which database it is, and how a row becomes a state.
 */
@NullMarked
package dev.ratelimit.store.jdbc;

import org.jspecify.annotations.NullMarked;
