/** Internal: transactions on connections to PostgreSQL, for both ways to decide there. It may change at any time. */
@NullMarked
package dev.ratelimit.store.postgresql.transaction;

import org.jspecify.annotations.NullMarked;
