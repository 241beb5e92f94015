/**
 * Watches the limits of this instance: recent denials, active penalties, log lines, and warnings for operators.
 */
@NullMarked
package dev.ratelimit.monitor;

import org.jspecify.annotations.NullMarked;
