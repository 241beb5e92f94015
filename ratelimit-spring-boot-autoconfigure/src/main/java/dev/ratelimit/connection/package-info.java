/** The limiter's connections to PostgreSQL: its own, or borrowed from the application. Internal: it may change at any time. */
@NullMarked
package dev.ratelimit.connection;

import org.jspecify.annotations.NullMarked;
