/**
 * The values and contracts of rate limiting: what a limit is, whose count it is, what was decided.
 */
@NullMarked
package dev.ratelimit;

import org.jspecify.annotations.NullMarked;
