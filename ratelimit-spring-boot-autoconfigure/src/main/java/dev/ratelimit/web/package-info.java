/**
 * The servlet filter, who the client is, whose count it is, the headers and the 429.
 */
@NullMarked
package dev.ratelimit.web;

import org.jspecify.annotations.NullMarked;
