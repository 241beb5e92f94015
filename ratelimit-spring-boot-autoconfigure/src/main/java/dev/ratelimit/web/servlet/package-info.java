/**
 * The contracts of servlet applications: usage of the caller, and the beans that you may define. The filters are in
 * {@code dev.ratelimit.web.servlet.filter}.
 */
@NullMarked
package dev.ratelimit.web.servlet;

import org.jspecify.annotations.NullMarked;
