/**
 * The store in databases that speak as PostgreSQL does, by swaps instead of locks: rows are read, decided in Java, and
 * written where nobody has written them since.
 */
@NullMarked
package dev.ratelimit.store.postgresql.swap;

import org.jspecify.annotations.NullMarked;
