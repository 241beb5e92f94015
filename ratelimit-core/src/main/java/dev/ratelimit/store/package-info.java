/**
 * Stores for the state of limits: the contract, the shared arithmetic of groups, and the store in memory.
 */
@NullMarked
package dev.ratelimit.store;

import org.jspecify.annotations.NullMarked;
