/**
 * Limits failed logins with Spring Security: by address and name together, by address alone and by name alone.
 */
@NullMarked
package dev.ratelimit.login;

import org.jspecify.annotations.NullMarked;
