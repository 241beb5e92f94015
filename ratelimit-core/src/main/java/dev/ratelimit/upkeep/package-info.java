/**
 * What has to be done from time to time: expired state and forgotten violations are deleted.
 */
@NullMarked
package dev.ratelimit.upkeep;

import org.jspecify.annotations.NullMarked;
