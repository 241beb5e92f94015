/**
 * The health of the limiter, for Spring Boot's health endpoint. Internal: it may change at any time.
 */
@NullMarked
package dev.ratelimit.health;

import org.jspecify.annotations.NullMarked;
