/**
 * The actuator endpoint {@code ratelimit}: a thin adapter of {@link dev.ratelimit.operate.Operations}.
 */
@NullMarked
package dev.ratelimit.actuate;

import org.jspecify.annotations.NullMarked;
