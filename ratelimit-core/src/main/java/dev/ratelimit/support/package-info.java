/**
 * Internal: small helpers that know nothing of rate limits, shared by all packages. Not supported for applications.
 */
@NullMarked
package dev.ratelimit.support;

import org.jspecify.annotations.NullMarked;
