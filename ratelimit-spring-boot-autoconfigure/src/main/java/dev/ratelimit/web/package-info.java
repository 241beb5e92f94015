/**
 * What every web stack needs and no server API knows: the client's address, the source of API keys, expressions, headers and
 * problem documents.
 */
@NullMarked
package dev.ratelimit.web;

import org.jspecify.annotations.NullMarked;
