/** The senders of requests: their accounts and API keys, and the tier and the quota that follow from them. */
@NullMarked
package dev.ratelimit.caller;

import org.jspecify.annotations.NullMarked;
