/**
 * Reads and checks settings: times as people write them, the bounds of numbers, and exceptions that say what to write instead.
 */
@NullMarked
package dev.ratelimit.setting;

import org.jspecify.annotations.NullMarked;
