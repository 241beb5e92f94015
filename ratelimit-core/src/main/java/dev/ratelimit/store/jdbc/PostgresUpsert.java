package dev.ratelimit.store.jdbc;

import dev.ratelimit.Algorithm;
import dev.ratelimit.Limit;
import dev.ratelimit.Micros;
import dev.ratelimit.algorithm.Admission;
import dev.ratelimit.algorithm.Log;
import dev.ratelimit.algorithm.State;
import dev.ratelimit.store.StateKey;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicIntegerArray;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/**
 * Admits what has room, of a group on limits of one algorithm, with one plain statement: for a lone request it costs little
 * more than an update of one row, and for many it is the cheapest way to write as many rows. It charges each key with all
 * that the group takes of it and writes the rows that the function would have written. A key that has no room for all of it
 * is left as it is, and its requests to the function: also after a penalty has begun, for a limit with a new rate, for a
 * clock that was set back.
 *
 * <p>Rows are taken in the order of their keys. The clock is read when the row is locked. Whether there is room is asked as:
 * is it later than the first moment with room? That moment is known from the row alone, and what has room once has room
 * later; so it does no harm that the clock is read again to write the row. The settings are those of the statement's own
 * transaction and end with it.
 */
final class PostgresUpsert {

    /** The numbers of a limit. */
    private static final List<String> NUMBERS = List.of("max", "size", "rate", "ahead", "interval");

    private static final Pattern NUMBER = Pattern.compile("(?<!:):(" + String.join("|", NUMBERS) + ")\\b");
    private static final Pattern ARGUMENT = Pattern.compile("(?<!:):([a-z]+)([0-9]*)");

    /** With more limits than these in a group, telling them apart costs more than the function does. */
    private static final int MOST_LIMITS = 4;

    private static final int REMEMBERED = 1 << 12;

    private final String schema;
    private final boolean durable;
    private final boolean onGivenClock;
    private final Map<Shape, Statement> statements = new ConcurrentHashMap<>();

    /**
     * The hashes of keys that had no room when they were last asked, each in the place that its hash gives. A group with
     * such a key is not tried: most likely it would need both statements. A key that is wrongly in or not in here costs
     * time, nothing else.
     */
    private final AtomicIntegerArray withoutRoom = new AtomicIntegerArray(REMEMBERED);

    /**
     * @param durable whether a commit waits for the disk
     * @param onGivenClock whether the time is given with each group, instead of read from the clock of the database
     */
    PostgresUpsert(String schema, boolean durable, boolean onGivenClock) {
        this.schema = schema;
        this.durable = durable;
        this.onGivenClock = onGivenClock;
    }

    /**
     * What a statement depends on.
     *
     * @param template that of the algorithm
     * @param differing the numbers in which the limits differ
     */
    private record Shape(String template, boolean oneKey, int limits, Set<String> differing) {

        Shape {
            differing = Set.copyOf(differing);
        }
    }

    /** A statement with its arguments, in the order in which they occur. */
    private record Statement(String sql, List<Argument> arguments) {}

    /**
     * @param limit whose it is
     */
    private record Argument(String name, int limit) {}

    private Statement statement(Shape shape) {
        String keys = shape.oneKey()
                ? PostgresTemplates.ONE_KEY
                : shape.limits() == 1 ? PostgresTemplates.MANY_SUBJECTS : PostgresTemplates.MANY_KEYS;
        int conflict = shape.template().indexOf("ON CONFLICT");
        String named = (numbers(shape, shape.template().substring(0, conflict), "key.resource")
                        + numbers(shape, shape.template().substring(conflict), "state.resource"))
                .replace("{keys}", keys)
                .replace(
                        "{settings}", durable ? PostgresTemplates.SETTINGS : PostgresTemplates.SETTINGS_WITHOUT_WAITING)
                .replace("{clock}", onGivenClock ? PostgresTemplates.GIVEN_CLOCK : PostgresTemplates.CLOCK)
                .replace("{resource}", shape.limits() == 1 ? "" : ", state.resource")
                .replace("{table}", "{schema}.rate_limits")
                .replace("{schema}", "\"" + schema + "\"");
        List<Argument> arguments = new ArrayList<>();
        String positional = ARGUMENT.matcher(named).replaceAll(found -> {
            arguments.add(
                    new Argument(found.group(1), found.group(2).isEmpty() ? 0 : Integer.parseInt(found.group(2)) - 1));
            return "?";
        });
        return new Statement(positional, List.copyOf(arguments));
    }

    /** Where the limits differ in a number, it is that of the limit that the resource names. */
    private static String numbers(Shape shape, String template, String resource) {
        return NUMBER.matcher(template).replaceAll(found -> {
            String name = found.group(1);
            if (!shape.differing().contains(name)) {
                return ":" + name;
            }
            StringBuilder choice = new StringBuilder("CASE ").append(resource);
            for (int limit = 1; limit <= shape.limits(); limit++) {
                choice.append(" WHEN :resource")
                        .append(limit)
                        .append(" THEN :")
                        .append(name)
                        .append(limit);
            }
            return choice.append(" END").toString();
        });
    }

    /** Whether the group is one that may be tried: see {@link PostgresCall#admissible()}. */
    boolean covers(PostgresCall call) {
        String template = call.limits().size() > MOST_LIMITS
                ? null
                : PostgresTemplates.of(call.limits().get(0));
        if (template == null || !call.admissible()) {
            return false;
        }
        for (Limit limit : call.limits()) {
            if (!template.equals(PostgresTemplates.of(limit))) {
                return false;
            }
        }
        for (StateKey key : call.keys()) {
            int hash = key.hashCode();
            if (withoutRoom.get(place(hash)) == hash) {
                return false;
            }
        }
        return true;
    }

    private static Shape shape(PostgresCall call) {
        List<Limit> limits = call.limits();
        Set<String> differing = new HashSet<>();
        if (limits.size() > 1) {
            for (String name : NUMBERS) {
                for (Limit limit : limits) {
                    if (number(name, limit) != number(name, limits.get(0))) {
                        differing.add(name);
                    }
                }
            }
        }
        return new Shape(
                Objects.requireNonNull(PostgresTemplates.of(limits.get(0))),
                call.keys().size() == 1,
                limits.size(),
                differing);
    }

    private static long number(String name, Limit limit) {
        Algorithm algorithm = limit.algorithm();
        return switch (name) {
            case "max" -> algorithm.capacity() * PostgresNumbers.unitsOfOne(algorithm);
            case "size" -> PostgresNumbers.size(algorithm);
            case "rate" -> PostgresNumbers.rate(algorithm);
            case "ahead" -> algorithm instanceof Algorithm.LeakyBucket bucket ? bucket.mostAhead() : 0;
            case "interval" -> Micros.of(limit.minInterval());
            default -> throw new IllegalStateException("no value for " + name);
        };
    }

    private static int place(int hash) {
        return (hash ^ hash >>> 16) & (REMEMBERED - 1);
    }

    /** Remembers that the key had room, or that it had none. */
    void learn(StateKey key, boolean room) {
        int hash = key.hashCode();
        if (!room) {
            withoutRoom.set(place(hash), hash);
        } else {
            withoutRoom.compareAndSet(place(hash), hash, ~hash);
        }
    }

    /**
     * Charges a group that is covered.
     *
     * @param now the time, if it is given
     * @return what was charged, by the number of the key; nothing where a key had no room for all that is taken of it
     */
    @Nullable
    Admission[] admit(Connection connection, PostgresCall call, @Nullable Long now) throws SQLException {
        Statement chosen = statements.computeIfAbsent(shape(call), this::statement);
        boolean oneLimit = call.limits().size() == 1;
        Limit first = call.limits().get(0);
        int resource = first.algorithm() instanceof Algorithm.SlidingWindow ? 5 : 4;
        @Nullable Admission[] admitted = new @Nullable Admission[call.keys().size()];
        try (PreparedStatement statement = connection.prepareStatement(chosen.sql())) {
            bind(statement, chosen.arguments(), call, now);
            try (ResultSet row = statement.executeQuery()) {
                while (row.next()) {
                    String name = oneLimit ? first.name() : row.getString(resource);
                    int key = call.number(new StateKey(row.getString(1), name));
                    Limit limit = call.limit(key);
                    admitted[key] = new Admission(limit, state(row, limit.algorithm()), call.total(key));
                }
            }
        }
        return admitted;
    }

    /** The state after all was charged, as far as what was told follows from it. */
    private static State state(ResultSet row, Algorithm algorithm) throws SQLException {
        long at = row.getLong(2);
        long size = PostgresNumbers.size(algorithm);
        boolean bucket = algorithm instanceof Algorithm.TokenBucket || algorithm instanceof Algorithm.LeakyBucket;
        boolean log = algorithm instanceof Algorithm.SlidingLog;
        return new State(
                algorithm.written(),
                bucket || log ? at : at - at % size,
                size,
                bucket || log ? 0 : row.getLong(3),
                algorithm instanceof Algorithm.SlidingWindow ? row.getLong(4) : 0,
                bucket ? row.getLong(3) : 0,
                log ? Log.of(at, row.getInt(3)) : Log.EMPTY,
                0,
                at,
                at,
                0);
    }

    private static void bind(
            PreparedStatement statement, List<Argument> arguments, PostgresCall call, @Nullable Long now)
            throws SQLException {
        for (int i = 0; i < arguments.size(); i++) {
            Argument argument = arguments.get(i);
            Limit limit = call.limits().get(argument.limit());
            switch (argument.name()) {
                case "subject" -> statement.setString(i + 1, call.keys().get(0).subject());
                case "subjects" -> statement.setObject(i + 1, call.subjects());
                case "resource" -> statement.setString(i + 1, limit.name());
                case "resources" -> statement.setObject(i + 1, call.resources());
                case "take" -> statement.setLong(i + 1, call.taken()[0]);
                case "takes" -> statement.setObject(i + 1, call.taken());
                case "now" -> statement.setLong(i + 1, Objects.requireNonNull(now));
                default -> statement.setLong(i + 1, number(argument.name(), limit));
            }
        }
    }
}
