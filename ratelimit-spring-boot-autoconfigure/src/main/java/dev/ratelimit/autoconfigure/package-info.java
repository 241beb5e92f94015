/** Wiring: the auto-configurations. Nothing imports this package. */
@NullMarked
package dev.ratelimit.autoconfigure;

import org.jspecify.annotations.NullMarked;
