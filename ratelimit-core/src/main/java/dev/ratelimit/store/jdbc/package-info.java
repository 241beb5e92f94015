/**
 * The stores in SQLite and PostgreSQL: the only place with SQL on state.
 */
@NullMarked
package dev.ratelimit.store.jdbc;

import org.jspecify.annotations.NullMarked;
