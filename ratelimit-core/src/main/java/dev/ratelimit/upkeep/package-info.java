/**
 * Regular upkeep: deletes expired state and forgotten violations.
 */
@NullMarked
package dev.ratelimit.upkeep;

import org.jspecify.annotations.NullMarked;
