/**
 * Keeps limits, rules, quotas and API keys in the database, and follows their changes. {@code dev.ratelimit.admin}
 * changes them.
 */
@NullMarked
package dev.ratelimit.data;

import org.jspecify.annotations.NullMarked;
