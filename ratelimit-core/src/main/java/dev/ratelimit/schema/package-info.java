/**
 * The tables: migrations of both dialects, run by a Flyway instance of our own with a history table of our own.
 */
@NullMarked
package dev.ratelimit.schema;

import org.jspecify.annotations.NullMarked;
