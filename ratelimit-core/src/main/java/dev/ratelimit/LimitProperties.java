package dev.ratelimit;

import dev.ratelimit.setting.Durations;
import dev.ratelimit.setting.InvalidLimitException;
import dev.ratelimit.setting.Require;
import dev.ratelimit.support.Spelling;
import java.time.Duration;
import java.util.ArrayList;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import java.util.function.Function;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/** The properties of one limit in configuration. Not thread-safe. */
public final class LimitProperties {

    private static final Set<String> OF_EVERY_ALGORITHM =
            Set.of("algorithm", "cost", "min-interval", "penalties", "forget-after", "retry-after", "lease");

    /** The time of a block without an end. */
    private static final String FOREVER = "forever";

    private static final Pattern STEP = Pattern.compile("(-?\\d{1,18})\\s*->\\s*(\\S+)");

    private final Map<String, String> properties;
    private final Set<String> read = new LinkedHashSet<>();

    private LimitProperties(Map<String, String> properties) {
        this.properties = properties;
    }

    /**
     * Reads a limit. A property that nobody reads is refused.
     *
     * @param algorithms reads the algorithm with its numbers
     */
    public static Limit limit(
            String name, Map<String, String> properties, Function<LimitProperties, Algorithm> algorithms) {
        try {
            return new LimitProperties(properties).limit(name, algorithms);
        } catch (InvalidLimitException e) {
            throw e.in(name);
        }
    }

    private Limit limit(String name, Function<LimitProperties, Algorithm> algorithms) {
        Algorithm algorithm = algorithms.apply(this);
        refuseUnread(algorithm);
        Limit.Builder limit = Limit.named(name).algorithm(algorithm);
        if (has("cost")) {
            limit.cost(number("cost"));
        }
        if (has("min-interval")) {
            limit.minInterval(time("min-interval"));
        }
        if (has("penalties")) {
            steps().forEach(step -> limit.penalty(step.after(), step.block()));
        }
        if (has("forget-after")) {
            limit.forgetAfter(time("forget-after"));
        }
        if (has("retry-after")) {
            limit.retryAfter(time("retry-after"));
        }
        if (has("lease")) {
            limit.lease(Lease.parse(text("lease", "")));
        }
        return limit.build();
    }

    private List<Penalties.Step> steps() {
        List<Penalties.Step> steps = new ArrayList<>();
        String advice = "write steps such as 1 -> 1m, 3 -> 5m";
        for (String written : text("penalties", advice).split(",", -1)) {
            Matcher step = STEP.matcher(written.strip());
            if (!step.matches()) {
                throw new InvalidLimitException(null, "penalties", written.strip(), advice);
            }
            steps.add(new Penalties.Step(Long.parseLong(step.group(1)), block(step.group(2))));
        }
        return steps;
    }

    private static Duration block(String written) {
        return written.equals(FOREVER)
                ? Penalties.FOREVER
                : Durations.parse("penalties.block", written, Durations.ADVICE + "; or " + FOREVER);
    }

    private void refuseUnread(Algorithm algorithm) {
        for (String property : new TreeSet<>(properties.keySet())) {
            if (!read.contains(property) && !OF_EVERY_ALGORITHM.contains(property)) {
                Set<String> known = new TreeSet<>(OF_EVERY_ALGORITHM);
                known.addAll(read);
                String meant = Spelling.nearest(property, known);
                throw new InvalidLimitException(
                        null,
                        property,
                        properties.get(property),
                        (meant == null ? "leave it out: " : "did you mean " + meant + "? ") + algorithm.name()
                                + " takes " + String.join(", ", known));
            }
        }
    }

    public boolean has(String property) {
        read.add(property);
        @Nullable String value = properties.get(property);
        return value != null && !value.isBlank();
    }

    /**
     * @param advice the remedy if it is missing
     */
    public String text(String property, String advice) {
        read.add(property);
        return Require.present(property, has(property) ? properties.get(property) : null, advice)
                .strip();
    }

    public long number(String property) {
        String written = text(property, "write a whole number of at least 1");
        try {
            return Long.parseLong(written.replace("_", ""));
        } catch (NumberFormatException e) {
            throw new InvalidLimitException(null, property, written, "write a whole number, such as 100");
        }
    }

    public Duration time(String property) {
        return Durations.parse(property, text(property, "write a time such as 1m"), Durations.ADVICE);
    }

    /**
     * @param advice the remedy if it is missing or not a time
     */
    public Duration time(String property, String advice) {
        return Durations.parse(property, text(property, advice), advice);
    }

    public Rate rate(String property) {
        return Rate.parse(property, text(property, "write a rate such as 1/s, 60/m or 5/15m"));
    }
}
