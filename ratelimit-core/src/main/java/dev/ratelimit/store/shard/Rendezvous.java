package dev.ratelimit.store.shard;

import java.nio.charset.StandardCharsets;
import java.util.List;

/**
 * Rendezvous hashing (highest random weight): the shard of a subject is the one whose weight for it is the highest. If a
 * shard is added, subjects only move to that one.
 *
 * <p>So that another language can compute it, in 64-bit arithmetic that wraps:
 *
 * <ol>
 *   <li>{@code hash(text)} is FNV-1a of the UTF-8 bytes: begin with {@code 0xcbf29ce484222325}; for each byte, XOR it in
 *       and multiply by {@code 0x100000001b3}.
 *   <li>{@code mix(z)} is the finalizer of SplitMix64: {@code z ^= z >>> 30; z *= 0xbf58476d1ce4e5b9; z ^= z >>> 27;
 *       z *= 0x94d049bb133111eb; z ^= z >>> 31}.
 *   <li>The weight is {@code mix(mix(hash(subject)) ^ mix(hash(name)))}, compared as an unsigned number. Of equal weights,
 *       the name that sorts first wins.
 * </ol>
 *
 * Immutable.
 */
final class Rendezvous {

    private final long[] seeds;

    /**
     * @param names of the shards, sorted, no two of them equal
     */
    Rendezvous(List<String> names) {
        this.seeds = names.stream().mapToLong(name -> mix(hash(name))).toArray();
    }

    /** The number of the shard among the names. */
    int of(String subject) {
        long mixed = mix(hash(subject));
        int best = 0;
        long highest = mix(mixed ^ seeds[0]);
        for (int i = 1; i < seeds.length; i++) {
            long weight = mix(mixed ^ seeds[i]);
            if (Long.compareUnsigned(weight, highest) > 0) {
                best = i;
                highest = weight;
            }
        }
        return best;
    }

    static long hash(String text) {
        long hash = 0xcbf29ce484222325L;
        for (byte next : text.getBytes(StandardCharsets.UTF_8)) {
            hash = (hash ^ (next & 0xff)) * 0x100000001b3L;
        }
        return hash;
    }

    static long mix(long number) {
        long z = number;
        z = (z ^ (z >>> 30)) * 0xbf58476d1ce4e5b9L;
        z = (z ^ (z >>> 27)) * 0x94d049bb133111ebL;
        return z ^ (z >>> 31);
    }
}
