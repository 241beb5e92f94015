package dev.ratelimit.store.shard;

import dev.ratelimit.store.LimitStoreException;
import dev.ratelimit.store.StateKey;
import dev.ratelimit.support.LogText;
import java.time.Duration;
import java.util.List;
import java.util.Objects;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Moves the state of subjects that nobody asks for, shard by shard and a few rows per step. It also moves state that has left
 * its shard and has not arrived. When a pass over a shard has moved all of it, and all instances have had time to learn of the
 * list, the shard says that nothing is left. Used by one thread.
 */
final class Mover {

    private static final Logger log = LoggerFactory.getLogger(Mover.class);

    private static final int ROWS_PER_STEP = 500;

    private final List<Shard> shards;
    private final Takeover takeover;
    private final long graceNanos;
    private int version;
    private long since;

    /**
     * @param grace how long other instances may take to learn of a new list
     */
    Mover(List<Shard> shards, Takeover takeover, Duration grace) {
        this.shards = shards;
        this.takeover = takeover;
        this.graceNanos = grace.toNanos();
    }

    /** Moves all that is there, if anything moves. */
    void run(Placement placement) {
        if (!placement.isMoving()) {
            return;
        }
        if (version != placement.version) {
            version = placement.version;
            since = System.nanoTime();
        }
        boolean inTime = System.nanoTime() - since >= graceNanos;
        for (int shard = 0; shard < shards.size(); shard++) {
            try {
                if (placement.mayHaveOthers(shard)) {
                    sweep(shard, placement);
                    if (inTime) {
                        tables(shard).allMoved(placement.version);
                    }
                }
            } catch (LimitStoreException e) {
                log.debug(
                        "Cannot move state from shard {}: {}", shards.get(shard).name(), LogText.of(e.getMessage()));
            }
        }
    }

    private void sweep(int shard, Placement placement) {
        @Nullable StateKey last = null;
        while (!Thread.currentThread().isInterrupted()) {
            List<StateKey> keys = tables(shard).keysAfter(last, ROWS_PER_STEP);
            if (keys.isEmpty()) {
                return;
            }
            last = keys.get(keys.size() - 1);
            List<StateKey> moving = keys.stream()
                    .filter(key -> placement.before(key.subject()) == shard)
                    .toList();
            if (!moving.isEmpty()) {
                takeover.bring(shard, moving, placement, false);
            }
        }
    }

    private ShardTables tables(int shard) {
        return Objects.requireNonNull(shards.get(shard).tables());
    }
}
