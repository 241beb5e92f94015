/**
 * Writes the audit trail and totals over time, and reads reports from both. Fed by request records, off the path of requests.
 * The reports themselves are in {@code dev.ratelimit.audit.report}.
 */
@NullMarked
package dev.ratelimit.audit;

import org.jspecify.annotations.NullMarked;
