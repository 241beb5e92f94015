package dev.ratelimit;

import java.time.Duration;
import java.time.ZoneId;
import java.util.ArrayList;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/** Reads a limit from the words of a configuration file. */
final class LimitProperties {

    private static final String ALGORITHMS =
            "write one of fixed-window, sliding-window, sliding-log, token-bucket, leaky-bucket";

    private static final String WINDOWS = "write a time such as 1m, or hour, day, week or month";

    private static final Set<String> OF_EVERY_ALGORITHM =
            Set.of("algorithm", "cost", "min-interval", "penalties", "forget-after", "lease");

    private static final Pattern TIER = Pattern.compile("(-?\\d{1,18})\\s*->\\s*(\\S+)");

    private final Map<String, String> properties;
    private final Set<String> read = new LinkedHashSet<>();

    LimitProperties(Map<String, String> properties) {
        this.properties = properties;
    }

    Limit limit(String name) {
        Algorithm algorithm = algorithm(text("algorithm", ALGORITHMS));
        refuseUnread(algorithm);
        Limit.Builder limit = Limit.named(name).algorithm(algorithm);
        if (has("cost")) {
            limit.cost(number("cost"));
        }
        if (has("min-interval")) {
            limit.minInterval(time("min-interval"));
        }
        if (has("penalties")) {
            tiers().forEach(tier -> limit.penalty(tier.after(), tier.block()));
        }
        if (has("forget-after")) {
            limit.forgetAfter(time("forget-after"));
        }
        if (has("lease")) {
            limit.lease(Lease.parse(text("lease", "")));
        }
        return limit.build();
    }

    private Algorithm algorithm(String written) {
        return switch (written.toLowerCase(Locale.ROOT).replace('_', '-')) {
            case "fixed-window" -> new Algorithm.FixedWindow(number("max-requests"), window());
            case "sliding-window" -> new Algorithm.SlidingWindow(number("max-requests"), time("window"));
            case "sliding-log" -> new Algorithm.SlidingLog(number("max-requests"), time("window"));
            case "token-bucket" -> new Algorithm.TokenBucket(number("burst"), rate("refill"));
            case "leaky-bucket" -> leakyBucket();
            default -> throw new InvalidLimitException(null, "algorithm", written, ALGORITHMS);
        };
    }

    private Algorithm leakyBucket() {
        Rate drain = rate("drain");
        Duration maxWait = has("max-wait") ? time("max-wait") : Duration.ZERO;
        return !has("capacity") && !maxWait.isZero()
                ? Algorithm.LeakyBucket.queue(drain, maxWait)
                : new Algorithm.LeakyBucket(number("capacity"), drain, maxWait);
    }

    private Window window() {
        String written = text("window", WINDOWS);
        for (Window.CalendarUnit unit : Window.CalendarUnit.values()) {
            if (unit.written().equalsIgnoreCase(written)) {
                return Window.of(unit, has("zone") ? Window.zone(text("zone", "")) : ZoneId.of("UTC"));
            }
        }
        if (has("zone")) {
            throw new InvalidLimitException(
                    null, "zone", text("zone", ""), "leave it out, or write hour, day, week or month as the window");
        }
        return Window.of(Durations.parse("window", written, WINDOWS));
    }

    private List<Penalties.Tier> tiers() {
        List<Penalties.Tier> tiers = new ArrayList<>();
        String advice = "write tiers such as 1 -> 1m, 3 -> 5m";
        for (String written : text("penalties", advice).split(",", -1)) {
            Matcher tier = TIER.matcher(written.strip());
            if (!tier.matches()) {
                throw new InvalidLimitException(null, "penalties", written.strip(), advice);
            }
            tiers.add(new Penalties.Tier(
                    Long.parseLong(tier.group(1)), Durations.parse("penalties.block", tier.group(2))));
        }
        return tiers;
    }

    private void refuseUnread(Algorithm algorithm) {
        for (String property : new TreeSet<>(properties.keySet())) {
            if (!read.contains(property) && !OF_EVERY_ALGORITHM.contains(property)) {
                Set<String> known = new TreeSet<>(OF_EVERY_ALGORITHM);
                known.addAll(read);
                throw new InvalidLimitException(
                        null,
                        property,
                        properties.get(property),
                        "leave it out: " + algorithm.written() + " takes " + String.join(", ", known));
            }
        }
    }

    private boolean has(String property) {
        read.add(property);
        @Nullable String value = properties.get(property);
        return value != null && !value.isBlank();
    }

    private String text(String property, String advice) {
        read.add(property);
        return Require.present(property, has(property) ? properties.get(property) : null, advice)
                .strip();
    }

    private long number(String property) {
        String written = text(property, "write a whole number of at least 1");
        try {
            return Long.parseLong(written.replace("_", ""));
        } catch (NumberFormatException e) {
            throw new InvalidLimitException(null, property, written, "write a whole number from 1 to " + Require.MOST);
        }
    }

    private Duration time(String property) {
        return Durations.parse(property, text(property, "write a time such as 1m"));
    }

    private Rate rate(String property) {
        return Rate.parse(property, text(property, "write a rate such as 1/s, 60/m or 5/15m"));
    }
}
