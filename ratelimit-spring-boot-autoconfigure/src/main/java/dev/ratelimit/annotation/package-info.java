/**
 * {@link dev.ratelimit.annotation.RateLimited} and what applies it.
 */
@NullMarked
package dev.ratelimit.annotation;

import org.jspecify.annotations.NullMarked;
