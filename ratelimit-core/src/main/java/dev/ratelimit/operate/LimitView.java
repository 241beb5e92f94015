package dev.ratelimit.operate;

import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * A limit in force.
 *
 * @param enabled whether it is asked and charged
 * @param sentence the limit in words, such as "At most 5 requests per minute."
 * @param properties every property, with its value and where that comes from
 * @param trial the numbers that are tried beside the live ones, or {@code null}
 * @param source where the limit comes from
 * @param lastHour its requests in the last hour; {@code null} if none came, or nothing is audited
 */
public record LimitView(
        String name,
        boolean enabled,
        String sentence,
        List<Property> properties,
        @Nullable Trial trial,
        Source source,
        @Nullable Traffic lastHour) {

    /**
     * A property of a limit.
     *
     * @param value as it is written in the configuration
     */
    public record Property(String name, String value, Source source) {}

    /**
     * Numbers that are tried beside the live ones. They deny nobody.
     *
     * @param lastHour the requests that they would have denied; {@code null} if that is not known
     */
    public record Trial(String sentence, @Nullable Traffic lastHour) {}

    /**
     * The requests on a limit.
     *
     * @param denied because it was used up, or by a penalty on it
     */
    public record Traffic(long requests, long denied, double deniedPercent) {}
}
