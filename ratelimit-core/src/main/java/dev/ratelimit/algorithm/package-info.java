/**
 * Pure arithmetic: from a state, a limit, a moment and a cost to the next state and a verdict. No clock, no storage.
 */
@NullMarked
package dev.ratelimit.algorithm;

import org.jspecify.annotations.NullMarked;
