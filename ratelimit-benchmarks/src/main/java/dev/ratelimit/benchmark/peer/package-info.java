/** The contenders: the rate limiter of this project and its peers, behind one small interface. */
@NullMarked
package dev.ratelimit.benchmark.peer;

import org.jspecify.annotations.NullMarked;
