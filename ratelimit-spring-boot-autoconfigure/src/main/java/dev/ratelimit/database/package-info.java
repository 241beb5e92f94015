/** Chooses and opens the databases: one for counts, and one for limits and rules. Internal: it may change at any time. */
@NullMarked
package dev.ratelimit.database;

import org.jspecify.annotations.NullMarked;
