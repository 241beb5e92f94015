package dev.ratelimit.benchmark;

/**
 * A line of the report: a ratio, or another figure that has a goal.
 *
 * @param value over the turns
 * @param databaseTime the ratio of the database's processor time for each decision; unknown unless both sides use it
 */
record Comparison(String name, Spread value, Goal goal, Spread databaseTime) {}
