package dev.ratelimit;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * What is asked of a {@link RateLimiter}: one limit or several, each with its subject and a cost, all-or-nothing.
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
     * @param cost what to charge, or {@code null} for the limit's own cost
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
    }

    private final List<Item> items;
    private final Duration retryAfterFloor;
    private final FailurePolicy onFailure;

    private LimitRequest(List<Item> items, Duration retryAfterFloor, FailurePolicy onFailure) {
        this.items = List.copyOf(items);
        this.retryAfterFloor = retryAfterFloor;
        this.onFailure = onFailure;
    }

    /** A request on the limit of that name. */
    public static LimitRequest of(Subject subject, String limitName) {
        return new LimitRequest(List.of(new Item(subject, limitName, null)), Duration.ZERO, FailurePolicy.OPEN);
    }

    /** A request on a limit that is given for this call. */
    public static LimitRequest of(Subject subject, Limit limit) {
        return new LimitRequest(List.of(new Item(subject, limit.name(), limit)), Duration.ZERO, FailurePolicy.OPEN);
    }

    /** The same request, which must also have room in the limit of that name. */
    public LimitRequest and(Subject subject, String limitName) {
        return with(new Item(subject, limitName, null));
    }

    /** The same request, which must also have room in the given limit. */
    public LimitRequest and(Subject subject, Limit limit) {
        return with(new Item(subject, limit.name(), limit));
    }

    private LimitRequest with(Item added) {
        for (Item item : items) {
            if (item.subject().equals(added.subject()) && item.limitName().equals(added.limitName())) {
                throw new IllegalArgumentException("limit '" + added.limitName() + "' is asked twice for subject '"
                        + added.subject() + "' in one request; ask once and give the cost");
            }
        }
        List<Item> all = new ArrayList<>(items);
        all.add(added);
        return new LimitRequest(all, retryAfterFloor, onFailure);
    }

    /** The same request at that cost on the limit that was named last. */
    public LimitRequest cost(long cost) {
        if (cost < 1) {
            throw new IllegalArgumentException("cost is " + cost + "; write a whole number of at least 1");
        }
        Item last = items.get(items.size() - 1);
        return withLast(new Item(last.subject(), last.limitName(), last.limit(), cost, last.rule()));
    }

    /** The same request; the limit that was named last is there because of the rule of that name. */
    public LimitRequest rule(String rule) {
        Item last = items.get(items.size() - 1);
        return withLast(new Item(last.subject(), last.limitName(), last.limit(), last.cost(), rule));
    }

    private LimitRequest withLast(Item item) {
        List<Item> all = new ArrayList<>(items);
        all.set(all.size() - 1, item);
        return new LimitRequest(all, retryAfterFloor, onFailure);
    }

    /** The same request; if it is denied, it is told to come back no sooner than this. */
    public LimitRequest retryAfterFloor(Duration floor) {
        if (floor.isNegative()) {
            throw new IllegalArgumentException("retry-after floor is " + floor + "; write a time of zero or more");
        }
        return new LimitRequest(items, floor, onFailure);
    }

    /** The same request; this happens to it when no decision can be had. */
    public LimitRequest onFailure(FailurePolicy policy) {
        return new LimitRequest(items, retryAfterFloor, policy);
    }

    public List<Item> items() {
        return items;
    }

    public Duration retryAfterFloor() {
        return retryAfterFloor;
    }

    public FailurePolicy onFailure() {
        return onFailure;
    }

    @Override
    public String toString() {
        return "LimitRequest" + items;
    }
}
