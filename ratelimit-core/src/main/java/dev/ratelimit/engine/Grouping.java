package dev.ratelimit.engine;

import dev.ratelimit.engine.queue.QueueSettings;
import dev.ratelimit.setting.InvalidSettingException;
import java.time.Duration;

/**
 * How requests are combined into groups. All of it holds for each {@linkplain dev.ratelimit.store.LimitStore#part part of the
 * store}.
 *
 * @param groupsInFlight how many groups may be at the store at the same moment, no two of them with a subject on the same limit
 * @param maxGroupSize how many requests a group holds at most
 * @param maxWaiting how many requests may wait in all; one more is an overload
 * @param deadline how long a request waits for its group at most
 */
public record Grouping(int groupsInFlight, int maxGroupSize, int maxWaiting, Duration deadline) {

    /** One group at a time: for stores with one writer. */
    public static final Grouping DEFAULT = new Grouping(1, 256, 10_000, Duration.ofSeconds(1));

    public Grouping {
        require("groups-in-flight", groupsInFlight, 64);
        require("max-group-size", maxGroupSize, 10_000);
        require("max-waiting", maxWaiting, 10_000_000);
        if (deadline.isZero() || deadline.isNegative() || deadline.compareTo(Duration.ofHours(1)) > 0) {
            throw new InvalidSettingException("deadline", deadline, "write a time of at most 1h, such as 1s");
        }
    }

    private static void require(String property, int value, int most) {
        if (value < 1 || value > most) {
            throw new InvalidSettingException(property, value, "write a whole number from 1 to " + most);
        }
    }

    QueueSettings forQueue() {
        return new QueueSettings(groupsInFlight, maxGroupSize, maxWaiting, deadline);
    }

    public Grouping withGroupsInFlight(int groups) {
        return new Grouping(groups, maxGroupSize, maxWaiting, deadline);
    }

    public Grouping withMaxGroupSize(int size) {
        return new Grouping(groupsInFlight, size, maxWaiting, deadline);
    }

    public Grouping withMaxWaiting(int requests) {
        return new Grouping(groupsInFlight, maxGroupSize, requests, deadline);
    }

    public Grouping withDeadline(Duration time) {
        return new Grouping(groupsInFlight, maxGroupSize, maxWaiting, time);
    }
}
