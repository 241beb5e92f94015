/**
 * Keeps limits, rules, quotas and API keys in the database, caches them, and follows their changes.
 * {@code dev.ratelimit.admin} changes them. Their rows are in {@code dev.ratelimit.data.table}.
 */
@NullMarked
package dev.ratelimit.data;

import org.jspecify.annotations.NullMarked;
