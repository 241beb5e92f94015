/**
 * The parts that every web stack shares, without a server API: the client's address, the source of API keys, headers and problem
 * documents, and the surroundings of a call of a limited method.
 */
@NullMarked
package dev.ratelimit.web;

import org.jspecify.annotations.NullMarked;
