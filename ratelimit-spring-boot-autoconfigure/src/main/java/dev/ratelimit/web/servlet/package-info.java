/**
 * The adapter between servlet requests and the gate: the filters, usage, and the answer to a rejected request.
 */
@NullMarked
package dev.ratelimit.web.servlet;

import org.jspecify.annotations.NullMarked;
