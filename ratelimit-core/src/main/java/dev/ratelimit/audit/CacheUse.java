package dev.ratelimit.audit;

/** How often the caches of this instance, remembered denials and leases, saved a call of the store. Counts never go down. */
public interface CacheUse {

    /** For a limiter without caches. */
    CacheUse NONE = new CacheUse() {
        @Override
        public long hits() {
            return 0;
        }

        @Override
        public long misses() {
            return 0;
        }
    };

    long hits();

    long misses();
}
