/**
 * Spring application events about limits, penalties, blocks, changes and the store.
 */
@NullMarked
package dev.ratelimit.event;

import org.jspecify.annotations.NullMarked;
