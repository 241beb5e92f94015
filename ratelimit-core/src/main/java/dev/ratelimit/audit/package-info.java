/**
 * The audit trail, totals over time, and reports from both. Fed by request records, off the path of requests.
 */
@NullMarked
package dev.ratelimit.audit;

import org.jspecify.annotations.NullMarked;
