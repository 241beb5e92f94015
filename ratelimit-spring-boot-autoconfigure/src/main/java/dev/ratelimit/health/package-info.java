/**
 * The health of the limiter, for Spring Boot's health endpoint.
 */
@NullMarked
package dev.ratelimit.health;

import org.jspecify.annotations.NullMarked;
