/**
 * Internal: the SQL that writing and retention of the audit trail share. It may change at any time.
 */
@NullMarked
package dev.ratelimit.audit.sql;

import org.jspecify.annotations.NullMarked;
