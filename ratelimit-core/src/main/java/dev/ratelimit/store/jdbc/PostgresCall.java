package dev.ratelimit.store.jdbc;

import dev.ratelimit.Algorithm;
import dev.ratelimit.Limit;
import dev.ratelimit.Micros;
import dev.ratelimit.Penalties;
import dev.ratelimit.Window;
import dev.ratelimit.algorithm.Charge;
import dev.ratelimit.store.LimitStoreException;
import dev.ratelimit.store.Operation;
import dev.ratelimit.store.Operation.Demand;
import dev.ratelimit.store.StateKey;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.SQLException;
import java.sql.Types;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * A group as the arrays that the function takes: each key once, each limit once, and the demands by their numbers. If it
 * may be that all is admitted, also what the demands take of each key together.
 */
final class PostgresCall {

    private static final List<String> KINDS =
            List.of("token-bucket", "leaky-bucket", "fixed-window", "sliding-window", "sliding-log");

    private final Map<StateKey, Integer> keys = new HashMap<>();
    private final List<StateKey> keyList = new ArrayList<>();
    private final Map<Limit, Integer> limits = new HashMap<>();
    private final List<Limit> limitList = new ArrayList<>();

    private final boolean[] writes;
    private final boolean linked;
    private final boolean admissible;
    private final int[] limitOfKey;
    private final long[] total;
    private final int[] operation;
    private final short[] kind;
    private final int[] key;
    private final int[] limit;
    private final long[] cost;
    private final long[] chargedAt;
    private final long[] charged;
    private final long[] chargedTokens;

    PostgresCall(List<Operation> group) {
        this(group, false);
    }

    /** A group that was tried, and is to be decided one by one. */
    static PostgresCall oneByOne(List<Operation> group) {
        return new PostgresCall(group, true);
    }

    private PostgresCall(List<Operation> group, boolean tried) {
        int demands = 0;
        for (Operation one : group) {
            demands += one.demands().size();
        }
        this.operation = new int[demands];
        this.kind = new short[demands];
        this.key = new int[demands];
        this.limit = new int[demands];
        this.cost = new long[demands];
        this.chargedAt = new long[demands];
        this.charged = new long[demands];
        this.chargedTokens = new long[demands];
        boolean[] written = new boolean[demands];
        boolean severalKeys = false;
        boolean admissible = !tried;
        int i = 0;
        for (int number = 0; number < group.size(); number++) {
            Operation one = group.get(number);
            severalKeys |= one.demands().size() > 1;
            admissible &= one.kind() == Operation.Kind.DECIDE;
            for (Demand demand : one.demands()) {
                operation[i] = number;
                kind[i] = one.kind().code();
                key[i] = number(keys, keyList, demand.key());
                limit[i] = number(limits, limitList, demand.limit());
                cost[i] = demand.cost();
                Charge charge = demand.charge();
                if (charge != null) {
                    chargedAt[i] = charge.at();
                    charged[i] = charge.cost();
                    chargedTokens[i] = charge.tokens();
                }
                written[key[i] - 1] |= one.kind() != Operation.Kind.PEEK;
                i++;
            }
        }
        this.writes = Arrays.copyOf(written, keyList.size());
        this.linked = severalKeys;
        this.limitOfKey = new int[keyList.size()];
        this.total = new long[keyList.size()];
        this.admissible = admissible && addUp();
    }

    /**
     * Adds up what the demands take of each key.
     *
     * @return whether all of it may be admitted together: a key has one limit, and a name; no more is taken than the limit
     *     can ever grant; and of a limit that looks at the time between two requests, or at their turn, only one is asked
     */
    private boolean addUp() {
        Set<String> names = new HashSet<>();
        for (Limit one : limitList) {
            if (!names.add(one.name())) {
                return false;
            }
        }
        for (int i = 0; i < key.length; i++) {
            int k = key[i] - 1;
            Limit one = limitList.get(limit[i] - 1);
            boolean onlyOne = one.hasMinInterval()
                    || (one.algorithm() instanceof Algorithm.LeakyBucket bucket && bucket.isQueue());
            if (onlyOne && total[k] > 0) {
                return false;
            }
            limitOfKey[k] = limit[i];
            total[k] += cost[i];
            if (total[k] > one.capacity()) {
                return false;
            }
        }
        return true;
    }

    /** Whether an operation has several keys. */
    boolean linked() {
        return linked;
    }

    /** Whether all of it may be admitted together, each key with what the demands take of it in sum. */
    boolean admissible() {
        return admissible;
    }

    List<StateKey> keys() {
        return keyList;
    }

    List<Limit> limits() {
        return limitList;
    }

    /** The number of the key in the list of keys. */
    int number(StateKey of) {
        return Objects.requireNonNull(keys.get(of)) - 1;
    }

    /** The number of the key that a demand is on. */
    int keyOf(int demand) {
        return key[demand] - 1;
    }

    /** What the demands take of the key of that number together. */
    long total(int number) {
        return total[number];
    }

    Limit limit(int keyNumber) {
        return limitList.get(limitOfKey[keyNumber] - 1);
    }

    /** The number of a thing in its list, counted from one as arrays are in SQL. */
    private static <T> int number(Map<T, Integer> numbers, List<T> list, T thing) {
        Integer known = numbers.get(thing);
        if (known != null) {
            return known;
        }
        list.add(thing);
        numbers.put(thing, list.size());
        return list.size();
    }

    void bind(PreparedStatement statement, boolean durable, @Nullable Long now) throws SQLException {
        int p = 1;
        statement.setBoolean(p++, durable);
        statement.setBoolean(p++, linked);
        if (now == null) {
            statement.setNull(p++, Types.BIGINT);
        } else {
            statement.setLong(p++, now);
        }
        statement.setObject(p++, subjects());
        statement.setObject(p++, resources());
        statement.setObject(p++, writes);
        if (admissible) {
            statement.setObject(p++, limitOfKey);
            statement.setObject(p++, taken());
        } else {
            statement.setNull(p++, Types.ARRAY);
            statement.setNull(p++, Types.ARRAY);
        }
        p = bindLimits(statement, p);
        statement.setObject(p++, operation);
        statement.setObject(p++, kind);
        statement.setObject(p++, key);
        statement.setObject(p++, limit);
        statement.setObject(p++, cost);
        statement.setObject(p++, chargedAt);
        statement.setObject(p++, charged);
        statement.setObject(p, chargedTokens);
    }

    /** The subject of each key. */
    String[] subjects() {
        String[] subjects = new String[keyList.size()];
        for (int i = 0; i < subjects.length; i++) {
            subjects[i] = keyList.get(i).subject();
        }
        return subjects;
    }

    /** The name of the limit of each key. */
    String[] resources() {
        String[] resources = new String[keyList.size()];
        for (int i = 0; i < resources.length; i++) {
            resources[i] = keyList.get(i).limit();
        }
        return resources;
    }

    /** What is taken of each key, in the units of its limit. */
    long[] taken() {
        long[] units = new long[total.length];
        for (int k = 0; k < units.length; k++) {
            units[k] = total[k]
                    * PostgresNumbers.unitsOfOne(
                            limitList.get(limitOfKey[k] - 1).algorithm());
        }
        return units;
    }

    private int bindLimits(PreparedStatement statement, int from) throws SQLException {
        int size = limitList.size();
        boolean anyCalendar = false;
        String[] resource = new String[size];
        int[] kinds = new int[size];
        String[] name = new String[size];
        long[] max = new long[size];
        long[] window = new long[size];
        long[] rate = new long[size];
        long[] ahead = new long[size];
        @Nullable String[] unit = new @Nullable String[size];
        @Nullable String[] zone = new @Nullable String[size];
        long[] interval = new long[size];
        long[] forget = new long[size];
        int[] tier = new int[size + 1];
        List<Penalties.Tier> tiers = new ArrayList<>();
        for (int i = 0; i < size; i++) {
            Limit one = limitList.get(i);
            Algorithm algorithm = one.algorithm();
            resource[i] = one.name();
            name[i] = algorithm.written();
            kinds[i] = KINDS.indexOf(name[i]) + 1;
            max[i] = algorithm.capacity() * PostgresNumbers.unitsOfOne(algorithm);
            window[i] = PostgresNumbers.size(algorithm);
            rate[i] = PostgresNumbers.rate(algorithm);
            ahead[i] = algorithm instanceof Algorithm.LeakyBucket bucket && bucket.isQueue() ? bucket.mostAhead() : -1;
            if (algorithm instanceof Algorithm.FixedWindow fixed
                    && fixed.window() instanceof Window.Calendar calendar) {
                anyCalendar = true;
                unit[i] = calendar.unit().written();
                zone[i] = calendar.zone().getId();
            }
            interval[i] = Micros.of(one.minInterval());
            forget[i] = Micros.of(one.penalties().forgetAfter());
            tier[i] = tiers.size() + 1;
            tiers.addAll(one.penalties().tiers());
        }
        tier[size] = tiers.size() + 1;
        int p = from;
        statement.setBoolean(p++, anyCalendar);
        statement.setObject(p++, resource);
        statement.setObject(p++, kinds);
        statement.setObject(p++, name);
        statement.setObject(p++, max);
        statement.setObject(p++, window);
        statement.setObject(p++, rate);
        statement.setObject(p++, ahead);
        statement.setObject(p++, unit);
        statement.setObject(p++, zone);
        statement.setObject(p++, interval);
        statement.setObject(p++, forget);
        statement.setObject(p++, tier);
        statement.setObject(p++, tiers.stream().mapToLong(Penalties.Tier::after).toArray());
        statement.setObject(
                p++, tiers.stream().mapToLong(t -> Micros.of(t.block())).toArray());
        return p;
    }

    /** Refuses a zone that Java knows and the database does not, before it fails the whole group. */
    void requireKnownZones(Connection connection, Set<String> known) throws SQLException {
        for (Limit one : limitList) {
            if (one.algorithm() instanceof Algorithm.FixedWindow fixed
                    && fixed.window() instanceof Window.Calendar calendar
                    && !known.contains(calendar.zone().getId())) {
                try (PreparedStatement probe = connection.prepareStatement("SELECT now() AT TIME ZONE ?")) {
                    probe.setString(1, calendar.zone().getId());
                    probe.execute();
                    known.add(calendar.zone().getId());
                } catch (SQLException e) {
                    throw new LimitStoreException(
                            "limit '" + one.name() + "': zone is '" + calendar.zone()
                                    + "'; write one that PostgreSQL knows, too (see pg_timezone_names)",
                            e);
                }
            }
        }
    }
}
