/**
 * The tables of limits, rules, quotas, API keys and penalties: a class for the rows of each, with its SQL. Internal: it may
 * change at any time.
 */
@NullMarked
package dev.ratelimit.data.table;

import org.jspecify.annotations.NullMarked;
