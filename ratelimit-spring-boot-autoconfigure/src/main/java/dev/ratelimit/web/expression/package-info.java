/**
 * Expressions of rules and annotations: their values, and mistakes in them that can be seen at startup. Internal: it may change at any
 * time.
 */
@NullMarked
package dev.ratelimit.web.expression;

import org.jspecify.annotations.NullMarked;
