/**
 * The store in a SQLite file: one writer, and the Java arithmetic inside its transaction.
 */
@NullMarked
package dev.ratelimit.store.sqlite;

import org.jspecify.annotations.NullMarked;
