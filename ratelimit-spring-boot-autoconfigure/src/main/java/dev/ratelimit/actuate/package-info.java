/**
 * The actuator endpoint {@code ratelimit}: a thin adapter of {@link dev.ratelimit.operate.Operations}.
 * Internal: it may change at any time.
 */
@NullMarked
package dev.ratelimit.actuate;

import org.jspecify.annotations.NullMarked;
