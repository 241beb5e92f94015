/**
 * The store in PostgreSQL: one admission statement for a group, and the Java arithmetic for every request that it does
 * not admit.
 */
@NullMarked
package dev.ratelimit.store.postgresql;

import org.jspecify.annotations.NullMarked;
