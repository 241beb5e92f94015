package dev.ratelimit.benchmark;

import dev.ratelimit.benchmark.load.Spread;

/**
 * A line of the report: a ratio, or another figure that has a goal.
 *
 * @param value over the turns
 * @param databaseTime the ratio of the database's processor time for each decision; unknown unless both sides use it
 */
record Comparison(String name, Spread value, Goal goal, Spread databaseTime) {}
