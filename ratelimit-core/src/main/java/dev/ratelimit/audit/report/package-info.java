/**
 * Reports that you can read: {@link dev.ratelimit.audit.report.Reports}, and the values that it returns. The package
 * {@code dev.ratelimit.audit} writes and reads the tables behind them.
 */
@NullMarked
package dev.ratelimit.audit.report;

import org.jspecify.annotations.NullMarked;
