/** Puts load on a contender and measures: callers, connections, database servers, and the time that they use. */
@NullMarked
package dev.ratelimit.benchmark.load;

import org.jspecify.annotations.NullMarked;
