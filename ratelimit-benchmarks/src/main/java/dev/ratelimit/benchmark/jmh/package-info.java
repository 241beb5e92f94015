/** Measurements in process, by JMH. */
@NullMarked
package dev.ratelimit.benchmark.jmh;

import org.jspecify.annotations.NullMarked;
