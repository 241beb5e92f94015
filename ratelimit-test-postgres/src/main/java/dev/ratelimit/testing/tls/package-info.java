/**
 * Certificates for the tests of this project.
 */
@NullMarked
package dev.ratelimit.testing.tls;

import org.jspecify.annotations.NullMarked;
