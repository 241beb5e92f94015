/**
 * Connects the store in Redis to a Spring Boot application: its settings, its checks at startup, and its failure analyses.
 * Internal: it may change at any time.
 */
@NullMarked
package dev.ratelimit.redis;

import org.jspecify.annotations.NullMarked;
