package dev.ratelimit.store.postgresql;

import dev.ratelimit.Limit;
import dev.ratelimit.store.postgresql.PostgresKey.Way;
import dev.ratelimit.store.postgresql.admission.AdmissionFragment;
import dev.ratelimit.store.postgresql.admission.AdmissionNumbers;
import dev.ratelimit.store.postgresql.admission.AdmissionShape;
import dev.ratelimit.store.postgresql.admission.AdmissionShape.Keys;
import dev.ratelimit.store.postgresql.admission.AdmissionShape.Lookup;
import dev.ratelimit.store.postgresql.admission.AdmissionStatement;
import dev.ratelimit.support.Micros;
import java.sql.PreparedStatement;
import java.sql.SQLException;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Objects;
import java.util.Set;
import java.util.function.Function;
import java.util.function.ToLongFunction;
import org.jspecify.annotations.Nullable;

/** The limits of the keys that an admission statement is to charge, with their numbers. Not thread-safe. */
final class AdmissionLimits {

    /** A limit with its numbers. */
    record Numbered(Limit limit, AdmissionFragment fragment, AdmissionNumbers numbers) {

        long interval() {
            return Micros.of(limit.minInterval());
        }

        long number(String name) {
            return switch (name) {
                case "size" -> numbers.size();
                case "capacity" -> limit.capacity();
                case "rate" -> numbers.rate();
                case "most" -> numbers.most();
                case "origin" -> numbers.origin();
                case "until" -> numbers.until();
                case "interval" -> interval();
                default -> throw new IllegalArgumentException(name);
            };
        }

        /** The text by which a statement tells limits apart. */
        String nameAndCapacity() {
            return limit.name() + ' ' + limit.capacity();
        }
    }

    private static final String ALL = "all_";

    private final List<PostgresKey> keys;
    private final List<Numbered> limits = new ArrayList<>(1);
    private final int[] ofKey;

    private AdmissionLimits(List<PostgresKey> keys, long expected) {
        this.keys = keys;
        this.ofKey = new int[keys.size()];
        for (int i = 0; i < ofKey.length; i++) {
            keys.get(i).number(i);
            ofKey[i] = number(keys.get(i), expected);
        }
    }

    /**
     * The limits of the keys to admit. A key is left to the Java path if the statement could not find its limit. So is
     * a key whose demands may exceed even an empty row.
     *
     * @param expected the moment at which the statement is expected to run
     */
    static AdmissionLimits of(PostgresGroup group, long expected) {
        AdmissionLimits limits = new AdmissionLimits(group.keys(Way.ADMIT), expected);
        boolean toldApart = limits.areToldApart();
        boolean all = true;
        for (int i = 0; i < limits.ofKey.length; i++) {
            PostgresKey key = limits.keys.get(i);
            if (!limits.of(i).numbers().fits(key.taken()) || (!toldApart && limits.isTakenForAnother(i))) {
                key.raise(Way.LOCK);
                all = false;
            }
        }
        if (all) {
            return limits;
        }
        group.decideTogether();
        return of(group, expected);
    }

    /** The keys that are to be admitted. */
    List<PostgresKey> keys() {
        return keys;
    }

    private int number(PostgresKey key, long expected) {
        for (int i = 0; i < limits.size(); i++) {
            if (limits.get(i).limit().equals(key.limit())) {
                return i + 1;
            }
        }
        AdmissionFragment fragment = Objects.requireNonNull(key.fragment());
        limits.add(
                new Numbered(key.limit(), fragment, fragment.numbers(key.limit().algorithm(), expected)));
        return limits.size();
    }

    private Numbered first() {
        return limits.get(0);
    }

    /** The limit of the key with that number. */
    Numbered of(int key) {
        return limits.get(ofKey[key] - 1);
    }

    /**
     * Binds a parameter of an {@link AdmissionStatement}.
     *
     * @param now the time, if it is given
     */
    void bind(PreparedStatement statement, int at, String parameter, @Nullable Long now) throws SQLException {
        switch (parameter) {
            case "subject" -> statement.setString(at, keys.get(0).key().subject());
            case "take" -> statement.setLong(at, keys.get(0).taken());
            case "subjects" ->
                statement.setObject(
                        at, keys.stream().map(key -> key.key().subject()).toArray(String[]::new));
            case "takes" ->
                statement.setObject(
                        at, keys.stream().mapToLong(PostgresKey::taken).toArray());
            case "numbers" -> statement.setObject(at, ofKey);
            case "now" -> statement.setLong(at, Objects.requireNonNull(now));
            case "resource" -> statement.setString(at, first().limit().name());
            case "algorithm" -> statement.setString(at, first().fragment().algorithm());
            case "rate" ->
                statement.setLong(at, firstNonZero(one -> one.numbers().rate()));
            case "most" ->
                statement.setLong(at, firstNonZero(one -> one.numbers().most()));
            case "all_resource" ->
                statement.setObject(at, texts(one -> one.limit().name()));
            case "all_algorithm" ->
                statement.setObject(at, texts(one -> one.fragment().algorithm()));
            case "all_name" -> statement.setObject(at, texts(Numbered::nameAndCapacity));
            default -> {
                if (parameter.startsWith(ALL)) {
                    String name = parameter.substring(ALL.length());
                    statement.setObject(
                            at,
                            limits.stream().mapToLong(one -> one.number(name)).toArray());
                } else {
                    statement.setLong(at, first().number(parameter));
                }
            }
        }
    }

    private String[] texts(Function<Numbered, String> text) {
        return limits.stream().map(text).toArray(String[]::new);
    }

    AdmissionShape shape() {
        List<AdmissionFragment> fragments = new ArrayList<>(1);
        boolean intervals = false;
        for (Numbered one : limits) {
            intervals |= one.limit().hasMinInterval();
            if (!fragments.contains(one.fragment())) {
                fragments.add(one.fragment());
            }
        }
        Keys keys = limits.size() > 1 ? Keys.OF_SEVERAL : ofKey.length > 1 ? Keys.OF_ONE_LIMIT : Keys.ONE;
        return new AdmissionShape(fragments, keys, lookup(), intervals);
    }

    private Lookup lookup() {
        if (limits.size() < 2 || !differ()) {
            return Lookup.NONE;
        }
        Set<Long> capacities = new HashSet<>();
        limits.forEach(one -> capacities.add(one.limit().capacity()));
        return capacities.size() == limits.size() ? Lookup.BY_CAPACITY : Lookup.BY_NAME_AND_CAPACITY;
    }

    /** Whether limits differ in a number that rows do not hold. */
    private boolean differ() {
        long rate = firstNonZero(one -> one.numbers().rate());
        long most = firstNonZero(one -> one.numbers().most());
        for (Numbered one : limits) {
            if (one.interval() != first().interval()
                    || (one.numbers().rate() != 0 && one.numbers().rate() != rate)
                    || (one.numbers().most() != 0 && one.numbers().most() != most)) {
                return true;
            }
        }
        return false;
    }

    /** The number of the first limit that has one. */
    private long firstNonZero(ToLongFunction<Numbered> number) {
        for (Numbered one : limits) {
            if (number.applyAsLong(one) != 0) {
                return number.applyAsLong(one);
            }
        }
        return 0;
    }

    /** Whether the statement can find the limit of each row. */
    private boolean areToldApart() {
        return lookup() != Lookup.BY_NAME_AND_CAPACITY
                || new HashSet<>(List.of(texts(Numbered::nameAndCapacity))).size() == limits.size();
    }

    /** Whether another limit before has the same name and capacity. */
    private boolean isTakenForAnother(int key) {
        Numbered limit = of(key);
        for (Numbered one : limits) {
            if (one.equals(limit)) {
                return false;
            }
            if (one.nameAndCapacity().equals(limit.nameAndCapacity())) {
                return true;
            }
        }
        return false;
    }
}
