/**
 * The adapter between servlet requests and the gate: the filters, the calls of limited methods, usage, and the answer to a rejected
 * request. Internal: it may change at any time.
 */
@NullMarked
package dev.ratelimit.web.servlet.filter;

import org.jspecify.annotations.NullMarked;
