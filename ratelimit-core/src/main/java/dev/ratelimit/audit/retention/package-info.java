/**
 * How long the audit trail and totals are kept: which months end, and how a month is archived before it is dropped. The archive
 * itself is an SPI, {@link dev.ratelimit.audit.retention.AuditArchive}.
 */
@NullMarked
package dev.ratelimit.audit.retention;

import org.jspecify.annotations.NullMarked;
