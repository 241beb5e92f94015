package dev.ratelimit;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Predicate;
import org.jspecify.annotations.Nullable;

/**
 * A request to a {@link RateLimiter}: one limit or several, each with its subject and a cost, all-or-nothing.
 * Immutable: each method gives a new request.
 *
 * <pre>{@code
 * LimitRequest.of(user, "api").and(address, "login").cost(2).retryAfterFloor(Duration.ofSeconds(1));
 * }</pre>
 */
public final class LimitRequest {

    /**
     * One limit of the request.
     *
     * @param limitName the limit's name
     * @param limit the limit to use, or {@code null} to look it up by name
     * @param cost the charge, or {@code null} for the limit's own cost
     * @param rule the name of the rule that brought the limit in, or {@code null}; for listeners
     */
    public record Item(
            Subject subject,
            String limitName,
            @Nullable Limit limit,
            @Nullable Long cost,
            @Nullable String rule) {

        Item(Subject subject, String limitName, @Nullable Limit limit) {
            this(subject, limitName, limit, null, null);
        }

        /** Whether it asks the limit of that name for the subject. */
        public boolean asks(Subject asked, String name) {
            return subject.equals(asked) && limitName.equals(name);
        }
    }

    /** Asks for nothing yet, and so is always allowed: the start of a request whose limits are found one by one. */
    public static final LimitRequest NONE = new LimitRequest(List.of(), List.of(), Duration.ZERO, null, null, false);

    private final List<Item> items;
    private final List<Item> trials;
    private final Duration retryAfterFloor;
    private final @Nullable FailurePolicy onFailure;
    private final @Nullable String tier;
    private final boolean recordedByCaller;

    /** Lists that nobody changes. */
    private LimitRequest(
            List<Item> items,
            List<Item> trials,
            Duration retryAfterFloor,
            @Nullable FailurePolicy onFailure,
            @Nullable String tier,
            boolean recordedByCaller) {
        this.items = items;
        this.trials = trials;
        this.retryAfterFloor = retryAfterFloor;
        this.onFailure = onFailure;
        this.tier = tier;
        this.recordedByCaller = recordedByCaller;
    }

    /** A request on the limit of that name. */
    public static LimitRequest of(Subject subject, String limitName) {
        return of(new Item(subject, limitName, null));
    }

    /** A request on a limit that is given for this call. */
    public static LimitRequest of(Subject subject, Limit limit) {
        return of(new Item(subject, limit.name(), limit));
    }

    private static LimitRequest of(Item only) {
        return new LimitRequest(List.of(only), List.of(), Duration.ZERO, null, null, false);
    }

    /** The same request, which must also have room in the limit of that name. */
    public LimitRequest and(Subject subject, String limitName) {
        return with(new Item(subject, limitName, null));
    }

    /** The same request, which must also have room in the given limit. */
    public LimitRequest and(Subject subject, Limit limit) {
        return with(new Item(subject, limit.name(), limit));
    }

    /**
     * The same request, which must also have room in the given limit.
     *
     * @param rule the name of the rule that brought the limit in
     */
    public LimitRequest and(Subject subject, Limit limit, String rule) {
        return with(new Item(subject, limit.name(), limit, null, rule));
    }

    private LimitRequest with(Item added) {
        if (asks(added.subject(), added.limitName())) {
            throw new IllegalArgumentException("limit '" + added.limitName() + "' is asked twice for subject '"
                    + added.subject() + "' in one request; ask once and give the cost");
        }
        return new LimitRequest(and(items, added), trials, retryAfterFloor, onFailure, tier, recordedByCaller);
    }

    private static List<Item> and(List<Item> items, Item added) {
        if (items.isEmpty()) {
            return List.of(added);
        }
        List<Item> all = new ArrayList<>(items);
        all.add(added);
        return List.copyOf(all);
    }

    /** Whether the limit of that name is asked for the subject. */
    public boolean asks(Subject subject, String limitName) {
        for (int i = 0; i < items.size(); i++) {
            if (items.get(i).asks(subject, limitName)) {
                return true;
            }
        }
        return false;
    }

    /**
     * The same request, which also counts on the given limit, after it was decided; its answer only reaches
     * listeners. A limit that is there already is not added again.
     *
     * @param rule the name of the rule that brought the limit in
     */
    public LimitRequest trial(Subject subject, Limit limit, String rule) {
        for (Item item : trials) {
            if (item.asks(subject, limit.name())) {
                return this;
            }
        }
        Item added = new Item(subject, limit.name(), limit, null, rule);
        return new LimitRequest(items, and(trials, added), retryAfterFloor, onFailure, tier, recordedByCaller);
    }

    /** The same request at that cost on the limit that was named last. */
    public LimitRequest cost(long cost) {
        if (cost < 1) {
            throw new IllegalArgumentException("cost is " + cost + "; write a whole number of at least 1");
        }
        Item last = last();
        return withLast(new Item(last.subject(), last.limitName(), last.limit(), cost, last.rule()));
    }

    /** The same request; the limit that was named last is there because of the rule of that name. */
    public LimitRequest rule(String rule) {
        Item last = last();
        return withLast(new Item(last.subject(), last.limitName(), last.limit(), last.cost(), rule));
    }

    private Item last() {
        if (items.isEmpty()) {
            throw new IllegalStateException("the request names no limit yet; call and(subject, limit) first");
        }
        return items.get(items.size() - 1);
    }

    private LimitRequest withLast(Item item) {
        List<Item> all = new ArrayList<>(items);
        all.set(all.size() - 1, item);
        return new LimitRequest(List.copyOf(all), trials, retryAfterFloor, onFailure, tier, recordedByCaller);
    }

    /** The same request without limits of these names. */
    public LimitRequest without(Predicate<String> limitNames) {
        return new LimitRequest(
                without(items, limitNames),
                without(trials, limitNames),
                retryAfterFloor,
                onFailure,
                tier,
                recordedByCaller);
    }

    private static List<Item> without(List<Item> items, Predicate<String> limitNames) {
        return items.stream().filter(item -> !limitNames.test(item.limitName())).toList();
    }

    /** The same request; if it is denied, its retry-after is at least this. */
    public LimitRequest retryAfterFloor(Duration floor) {
        if (floor.isNegative()) {
            throw new IllegalArgumentException("retry-after floor is " + floor + "; write a time of zero or more");
        }
        return new LimitRequest(items, trials, floor, onFailure, tier, recordedByCaller);
    }

    /** The same request with that failure policy, for when the store is unavailable. */
    public LimitRequest onFailure(FailurePolicy policy) {
        return policy == onFailure
                ? this
                : new LimitRequest(items, trials, retryAfterFloor, policy, tier, recordedByCaller);
    }

    /**
     * The same request of a caller of that tier; limits that are looked up by name may differ by tier.
     *
     * @param name the tier, or {@code null} if it is not known
     */
    public LimitRequest tier(@Nullable String name) {
        return new LimitRequest(items, trials, retryAfterFloor, onFailure, name, recordedByCaller);
    }

    /** The same request, whose {@link RequestRecord} the caller makes; listeners get no separate record. */
    public LimitRequest recordedByCaller() {
        return new LimitRequest(items, trials, retryAfterFloor, onFailure, tier, true);
    }

    public boolean isRecordedByCaller() {
        return recordedByCaller;
    }

    public List<Item> items() {
        return items;
    }

    /** The limits on trial: see {@link #trial}. */
    public List<Item> trials() {
        return trials;
    }

    public Duration retryAfterFloor() {
        return retryAfterFloor;
    }

    /** The tier of the caller, or {@code null}. */
    public @Nullable String tier() {
        return tier;
    }

    /** The failure policy of this request, or {@code null}: then that of the limiter applies. */
    public @Nullable FailurePolicy onFailure() {
        return onFailure;
    }

    @Override
    public String toString() {
        return "LimitRequest" + items;
    }
}
