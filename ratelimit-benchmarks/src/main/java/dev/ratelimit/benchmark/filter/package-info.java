/** Limits the sample by Bucket4j instead: added to its class path when it is measured, and never shipped with it. */
@NullMarked
package dev.ratelimit.benchmark.filter;

import org.jspecify.annotations.NullMarked;
