/**
 * The properties under {@code ratelimit}: their types, their checks, and the analysis of a wrong one. Internal: it may change
 * at any time.
 */
@NullMarked
package dev.ratelimit.autoconfigure.property;

import org.jspecify.annotations.NullMarked;
