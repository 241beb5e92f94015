package dev.ratelimit.engine;

import dev.ratelimit.Limit;
import dev.ratelimit.LimitRequest;
import dev.ratelimit.Limits;
import dev.ratelimit.store.Operation.Demand;
import java.util.ArrayList;
import java.util.List;

/** Finds the limits of a request, and what to charge on each. */
final class LimitResolution {

    private final Limits limits;

    LimitResolution(Limits limits) {
        this.limits = limits;
    }

    /** The request without limits that are switched off. */
    LimitRequest inForce(LimitRequest request) {
        for (LimitRequest.Item item : request.items()) {
            if (limits.isOff(item.limitName())) {
                return request.without(limits::isOff);
            }
        }
        return request;
    }

    /** The limits of the request's items, in their order. */
    List<Limit> limits(LimitRequest request) {
        List<LimitRequest.Item> items = request.items();
        if (items.size() == 1) {
            return List.of(limit(items.get(0), request));
        }
        List<Limit> found = new ArrayList<>(items.size());
        for (LimitRequest.Item item : items) {
            found.add(limit(item, request));
        }
        return found;
    }

    private Limit limit(LimitRequest.Item item, LimitRequest request) {
        Limit given = item.limit();
        return given != null ? given : limits.get(item.limitName(), request.tier());
    }

    List<Demand> demands(LimitRequest request) {
        return request.items().size() == 1 ? List.of(demand(request)) : demands(request, limits(request));
    }

    /** The demand of a request on one limit. */
    Demand demand(LimitRequest request) {
        LimitRequest.Item only = request.items().get(0);
        return demand(only, limit(only, request));
    }

    List<Demand> demands(LimitRequest request, List<Limit> found) {
        if (found.size() == 1) {
            return List.of(demand(request.items().get(0), found.get(0)));
        }
        List<Demand> demands = new ArrayList<>(found.size());
        for (int i = 0; i < found.size(); i++) {
            demands.add(demand(request.items().get(i), found.get(i)));
        }
        return List.copyOf(demands);
    }

    private static Demand demand(LimitRequest.Item item, Limit limit) {
        Long cost = item.cost();
        long charged = cost != null ? cost : limit.cost();
        requireGrantable(limit, charged);
        return new Demand(item.subject(), limit, charged);
    }

    static void requireGrantable(Limit limit, long cost) {
        if (cost > limit.capacity()) {
            throw new IllegalArgumentException("limit '" + limit.name() + "': cost is " + cost + "; ask for at most "
                    + limit.capacity() + ", all that this limit can ever grant");
        }
    }

    /** Whether the limit is still the one that its name stands for. */
    boolean isCurrent(Limit limit) {
        return limits.isCurrent(limit);
    }
}
