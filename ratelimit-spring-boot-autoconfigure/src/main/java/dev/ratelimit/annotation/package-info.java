/**
 * {@link dev.ratelimit.annotation.RateLimited}, for methods of beans. {@code dev.ratelimit.annotation.interceptor} applies it.
 */
@NullMarked
package dev.ratelimit.annotation;

import org.jspecify.annotations.NullMarked;
