/**
 * Internal: limits failed logins with Spring Security, whichever way an application checks passwords. It may change at any time.
 */
@NullMarked
package dev.ratelimit.login.check;

import org.jspecify.annotations.NullMarked;
