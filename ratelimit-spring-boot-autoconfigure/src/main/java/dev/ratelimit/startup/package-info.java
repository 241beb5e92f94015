/** Checks of the configuration at startup, and analyses of failed starts. Internal: it may change at any time. */
@NullMarked
package dev.ratelimit.startup;

import org.jspecify.annotations.NullMarked;
