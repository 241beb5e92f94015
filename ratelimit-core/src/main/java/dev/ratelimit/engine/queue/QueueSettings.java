package dev.ratelimit.engine.queue;

import java.time.Duration;

/**
 * The limits of a queue.
 *
 * @param mostGroups how many groups may be at the store at the same moment
 * @param maxGroupSize how many requests a group holds at most
 * @param maxWaiting how many requests may wait; one more is an overload
 * @param deadline how long a request waits at most
 */
public record QueueSettings(int mostGroups, int maxGroupSize, int maxWaiting, Duration deadline) {}
