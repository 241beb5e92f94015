/**
 * The values and contracts of rate limiting: limits, subjects, requests and decisions.
 */
@NullMarked
package dev.ratelimit;

import org.jspecify.annotations.NullMarked;
