/**
 * A play-by-post game, in memory. What it limits stands in {@code application.yaml}, and on the one method that logs in.
 */
@NullMarked
package dev.ratelimit.sample;

import org.jspecify.annotations.NullMarked;
