/** Internal: the admission statement of the PostgreSQL store, with a fragment for each algorithm. It may change at any time. */
@NullMarked
package dev.ratelimit.store.postgresql.admission;

import org.jspecify.annotations.NullMarked;
