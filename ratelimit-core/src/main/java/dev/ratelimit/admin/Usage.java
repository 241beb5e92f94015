package dev.ratelimit.admin;

import dev.ratelimit.LimitDecision;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * The usage of a quota. Only requests under a rule that names the quota are counted.
 *
 * @param tier the tier whose quota applies where it is not overridden
 * @param today the usage on this day of the quota's calendar; {@code null} if the store is unavailable
 * @param thisMonth the usage in this month; {@code null} if the store is unavailable
 * @param limits the decision that each limit of the quota would take now
 */
public record Usage(
        String tier, @Nullable Long today, @Nullable Long thisMonth, List<LimitDecision> limits) {}
