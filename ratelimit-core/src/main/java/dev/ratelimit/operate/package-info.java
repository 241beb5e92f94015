/**
 * {@link dev.ratelimit.operate.Operations}: everything that an operator can see and do, as plain values. The endpoint and the
 * dashboard are adapters of it.
 */
@NullMarked
package dev.ratelimit.operate;

import org.jspecify.annotations.NullMarked;
