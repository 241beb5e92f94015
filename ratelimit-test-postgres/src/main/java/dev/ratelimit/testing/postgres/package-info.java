/**
 * A real PostgreSQL server for the tests of this project.
 */
@NullMarked
package dev.ratelimit.testing.postgres;

import org.jspecify.annotations.NullMarked;
