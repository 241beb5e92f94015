/**
 * Rules: which requests a limit applies to, compiled into an immutable book.
 */
@NullMarked
package dev.ratelimit.rule;

import org.jspecify.annotations.NullMarked;
