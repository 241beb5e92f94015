/**
 * Limits and rules, compiled into an immutable policy.
 */
@NullMarked
package dev.ratelimit.policy;

import org.jspecify.annotations.NullMarked;
