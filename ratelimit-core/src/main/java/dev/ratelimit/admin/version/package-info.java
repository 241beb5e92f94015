/**
 * Versions of limits and rules: the change that stores one, its history, and the policy that follows from the configuration
 * and the stored versions.
 */
@NullMarked
package dev.ratelimit.admin.version;

import org.jspecify.annotations.NullMarked;
