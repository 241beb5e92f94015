package dev.ratelimit.store.postgresql.admission;

import dev.ratelimit.Limit;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** The list of fragments. An algorithm that has none is decided in Java. */
public final class AdmissionFragments {

    public static final AdmissionFragments ALL = new AdmissionFragments(List.of(
            new TokenBucketFragment(),
            new LeakyBucketFragment(),
            new FixedWindowFragment(),
            new SlidingWindowFragment(),
            new SlidingLogFragment()));

    private final List<AdmissionFragment> list;

    private AdmissionFragments(List<AdmissionFragment> list) {
        this.list = list;
    }

    /** These, but not that of the algorithm. */
    public AdmissionFragments without(String algorithm) {
        return new AdmissionFragments(list.stream()
                .filter(fragment -> !fragment.algorithm().equals(algorithm))
                .toList());
    }

    public @Nullable AdmissionFragment of(Limit limit) {
        String name = limit.algorithm().name();
        for (AdmissionFragment fragment : list) {
            if (fragment.algorithm().equals(name)) {
                return fragment;
            }
        }
        return null;
    }
}
