/**
 * For tests of applications with limits: a clock that you move, callers with a tier or an API key, assertions, failures of the
 * store. With this module on the test classpath, counts are kept in memory and every test starts without any.
 */
@NullMarked
package dev.ratelimit.test;

import org.jspecify.annotations.NullMarked;
