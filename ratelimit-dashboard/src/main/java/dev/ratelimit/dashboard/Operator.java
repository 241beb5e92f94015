package dev.ratelimit.dashboard;

/**
 * Someone who may use the dashboard.
 *
 * @param name the author of changes
 * @param maySteer whether changes are allowed
 */
record Operator(String name, boolean maySteer) {}
