/** The dashboard: a page that shows and steers rate limits, its data, and the protection of both. */
@NullMarked
package dev.ratelimit.dashboard;

import org.jspecify.annotations.NullMarked;
