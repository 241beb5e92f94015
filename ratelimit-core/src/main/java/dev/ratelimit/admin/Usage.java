package dev.ratelimit.admin;

import dev.ratelimit.LimitDecision;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * What was used of a quota. Counted are the requests that came under a rule that asks for the quota.
 *
 * @param tier the tier whose numbers apply where there are no own ones
 * @param today how much was used on this day of the quota's calendar; {@code null} if the store could not be asked
 * @param thisMonth how much was used in this month; {@code null} if the store could not be asked
 * @param limits what each limit of the quota would say now
 */
public record Usage(
        String tier, @Nullable Long today, @Nullable Long thisMonth, List<LimitDecision> limits) {}
