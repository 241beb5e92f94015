package dev.ratelimit.store.shard;

import dev.ratelimit.store.LimitStoreException;
import dev.ratelimit.store.shard.ShardTables.Recorded;
import dev.ratelimit.support.LogText;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashSet;
import java.util.List;
import java.util.NavigableMap;
import java.util.Objects;
import java.util.Set;
import java.util.TreeMap;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The lists of shards in the databases, each with a version. The highest version that any of them has is in force.
 *
 * <ol>
 *   <li>The first instance records its list as version 1. If some of the databases have state by then and others have not,
 *       the former are version 1, and all of them version 2.
 *   <li>An instance that knows more shards announces them as the next version: first in the first shard of the list in force,
 *       so that only one of several is heard; then in all others. It waits until all state has moved for the list before.
 *   <li>If a list is recorded, an instance may start while shards are unavailable. It announces nothing before they have
 *       joined, and each of them says first which shard it is.
 *   <li>An instance that knows fewer shards may not start. One that runs treats the subjects that are not its own any more as
 *       undecided.
 * </ol>
 *
 * Used by one thread at a time.
 */
final class ShardLists {

    private static final Logger log = LoggerFactory.getLogger(ShardLists.class);

    /** In the order of the configuration. */
    private final List<Shard> shards;

    private final List<String> sorted;
    private int warnedOf;

    /**
     * @param shards in the order of the configuration
     */
    ShardLists(List<Shard> shards) {
        this.shards = shards;
        this.sorted = shards.stream().map(Shard::name).sorted().toList();
    }

    /** A list, with those of its shards that no longer have state of others. */
    private record NewestList(
            int version, List<String> names, @Nullable List<String> before, Set<String> left) {

        boolean isComplete() {
            return before == null || left.containsAll(before);
        }
    }

    /**
     * At startup: records or announces the configured list if need be.
     *
     * @throws InvalidShardsException if the databases have another list
     */
    Placement agree() {
        TreeMap<Integer, List<String>> lists = new TreeMap<>();
        Set<String> moved = new HashSet<>();
        List<Shard> there =
                shards.stream().filter(shard -> !tables(shard).isAwaited()).toList();
        there.forEach(shard -> read(shard, lists, moved));
        if (lists.isEmpty()) {
            requireAll(there);
            first(lists);
        }
        List<String> newest = lists.lastEntry().getValue();
        for (String name : newest) {
            if (!sorted.contains(name)) {
                throw new InvalidShardsException("put shard '" + name + "' back, which has the counts of its subjects:"
                        + " the databases have the shards " + newest + " since version " + lists.lastKey());
            }
        }
        if (!newest.get(0).equals(shards.get(0).name())) {
            throw new InvalidShardsException("write shard '" + newest.get(0)
                    + "' first, which has the limits, the rules and the audit trail; names keep"
                    + " their order in a YAML or properties file, but not in environment variables or arguments");
        }
        there.forEach(shard -> copy(lists, shard));
        announceLonger(lists, moved);
        return placement(inForce(lists, moved));
    }

    /** Nobody knows which of the databases have state before all of them have said so once. */
    private void requireAll(List<Shard> there) {
        if (there.size() < shards.size()) {
            List<String> absent = shards.stream()
                    .filter(shard -> !there.contains(shard))
                    .map(Shard::name)
                    .toList();
            throw new LimitStoreException(
                    "the shards " + absent + " are unavailable; the first start needs all shards",
                    new IllegalStateException("no list of shards is recorded"));
        }
    }

    /**
     * A shard that was unavailable at startup is there, and has decided nothing yet.
     *
     * @throws InvalidShardsException if its database has another list, or is another shard
     */
    void join(Shard late) {
        TreeMap<Integer, List<String>> lists = new TreeMap<>();
        Set<String> moved = new HashSet<>();
        readAvailable(lists, moved);
        read(late, lists, moved);
        copy(lists, late);
    }

    private void first(NavigableMap<Integer, List<String>> lists) {
        List<String> names = shards.stream().map(Shard::name).toList();
        List<String> used = shards.stream()
                .filter(shard -> tables(shard).hasState())
                .map(Shard::name)
                .toList();
        lists.put(1, used.isEmpty() ? names : used);
    }

    /** Reads the lists of a database, which must be the shard that it is configured as. */
    private static void read(Shard shard, NavigableMap<Integer, List<String>> lists, Set<String> moved) {
        for (Recorded list : tables(shard).read()) {
            if (!list.here().equals(shard.name())) {
                throw new InvalidShardsException("write '" + list.here() + ": jdbc:postgresql://…' instead of '"
                        + shard.name() + "': the database at that URL is shard '" + list.here() + "'");
            }
            List<String> other = lists.putIfAbsent(list.version(), list.names());
            if (other != null && !other.equals(list.names())) {
                throw new InvalidShardsException("configure databases that belong together: their lists of version "
                        + list.version() + " are " + other + " and " + list.names());
            }
            if (list.moved()) {
                moved.add(list.version() + " " + shard.name());
            }
        }
    }

    /** Every database has all lists: an instance that reads one of them knows the lists before. */
    private static void copy(NavigableMap<Integer, List<String>> lists, Shard shard) {
        lists.forEach((version, names) -> record(shard, version, names));
    }

    private static void record(Shard shard, int version, List<String> names) {
        Recorded recorded = tables(shard).record(new Recorded(version, names, shard.name(), version == 1));
        if (!recorded.names().equals(names)) {
            throw new InvalidShardsException("configure the same shards everywhere: another instance has announced "
                    + recorded.names() + " at the same time");
        }
    }

    /** Announces the configured list if it is longer than that in force, and nothing moves. */
    private void announceLonger(NavigableMap<Integer, List<String>> lists, Set<String> moved) {
        NewestList newest = inForce(lists, moved);
        if (newest.names().size() == sorted.size()
                || shards.stream().anyMatch(shard -> tables(shard).isAwaited())) {
            return;
        }
        if (!newest.isComplete()) {
            log.info(
                    "Waiting to announce new shards: state is still moving to the shards of version {}",
                    newest.version());
            return;
        }
        int version = newest.version() + 1;
        List<String> names = new ArrayList<>(newest.names());
        shards.stream().map(Shard::name).filter(name -> !names.contains(name)).forEach(names::add);
        shards.stream()
                .sorted(Comparator.comparing((Shard shard) -> !shard.name().equals(names.get(0))))
                .forEach(shard -> record(shard, version, names));
        lists.put(version, names);
        log.info("Announced the shards {} as version {}; moving state to the new ones", LogText.of(names), version);
    }

    private static NewestList inForce(NavigableMap<Integer, List<String>> lists, Set<String> moved) {
        int version = lists.lastKey();
        List<String> names = lists.lastEntry().getValue();
        List<String> before = lists.get(version - 1);
        Set<String> left = new HashSet<>();
        for (String name : names) {
            if (moved.contains(version + " " + name)) {
                left.add(name);
            }
        }
        return new NewestList(version, names, before, left);
    }

    private Placement placement(NewestList list) {
        boolean[] left = new boolean[sorted.size()];
        list.left().stream().mapToInt(sorted::indexOf).filter(i -> i >= 0).forEach(i -> left[i] = true);
        return new Placement(
                list.version(),
                sorted,
                list.names().stream().sorted().toList(),
                list.isComplete()
                        ? null
                        : Objects.requireNonNull(list.before()).stream()
                                .sorted()
                                .toList(),
                left);
    }

    /** While running: the list in force by what can be read now; {@code null} if nothing can. */
    @Nullable
    Placement read() {
        TreeMap<Integer, List<String>> lists = new TreeMap<>();
        Set<String> moved = new HashSet<>();
        readAvailable(lists, moved);
        if (lists.isEmpty()) {
            return null;
        }
        NewestList list = inForce(lists, moved);
        warnOfUnknown(list);
        if (sorted.containsAll(list.names()) && list.names().size() < sorted.size() && list.isComplete()) {
            announceLonger(lists, moved);
            list = inForce(lists, moved);
        }
        return placement(list);
    }

    private void readAvailable(NavigableMap<Integer, List<String>> lists, Set<String> moved) {
        for (Shard shard : shards) {
            try {
                read(shard, lists, moved);
            } catch (LimitStoreException e) {
                log.debug("Cannot read the list of shards: {}", LogText.of(e.getMessage()));
            }
        }
    }

    private void warnOfUnknown(NewestList list) {
        List<String> unknown =
                list.names().stream().filter(name -> !sorted.contains(name)).toList();
        if (!unknown.isEmpty() && warnedOf < list.version()) {
            warnedOf = list.version();
            log.warn(
                    "Other instances use the shards {} too; applying on-failure to subjects that have moved there. Add them"
                            + " to ratelimit.store.postgresql.shards and restart",
                    LogText.of(unknown));
        }
    }

    private static ShardTables tables(Shard shard) {
        return Objects.requireNonNull(shard.tables());
    }
}
