/** The tables: scripts for both databases, and what runs them in one transaction with a history table of our own. */
@NullMarked
package dev.ratelimit.schema;

import org.jspecify.annotations.NullMarked;
