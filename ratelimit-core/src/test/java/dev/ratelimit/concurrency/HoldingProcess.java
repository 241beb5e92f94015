package dev.ratelimit.concurrency;

import com.zaxxer.hikari.HikariConfig;
import com.zaxxer.hikari.HikariDataSource;
import dev.ratelimit.Limit;
import dev.ratelimit.Subject;
import dev.ratelimit.algorithm.FixedWindow;
import dev.ratelimit.store.Operation;
import dev.ratelimit.store.Operation.Demand;
import dev.ratelimit.store.Operation.Kind;
import dev.ratelimit.store.postgresql.PostgresLimitStore;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Proxy;
import java.sql.Connection;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.atomic.AtomicBoolean;
import javax.sql.DataSource;

/**
 * The main class of a process that locks a row, says so, and waits for a line between its two round trips.
 *
 * <p>Arguments: the address, the schema, the deadline in milliseconds.
 */
public final class HoldingProcess {

    static final String HOLDING = "holding";
    static final Limit LIMIT = Limit.named("held")
            .algorithm(new FixedWindow(100, Duration.ofDays(3650)))
            .build();
    static final Subject SUBJECT = Subject.user("held");

    private HoldingProcess() {}

    public static void main(String[] args) throws Exception {
        HikariConfig config = new HikariConfig();
        config.setJdbcUrl(args[0]);
        config.setMaximumPoolSize(2);
        PostgresLimitStore store = new PostgresLimitStore(waiting(new HikariDataSource(config)), args[1])
                .withDeadline(Duration.ofMillis(Long.parseLong(args[2])));
        System.out.println(
                "remaining " + store.decide(inJava(SUBJECT)).get(0).first().remaining());
        System.exit(0);
    }

    /** A request that is decided in Java, since it is also looked at. */
    static List<Operation> inJava(Subject subject) {
        Demand demand = new Demand(subject, LIMIT, 1);
        return List.of(new Operation(Kind.DECIDE, List.of(demand)), new Operation(Kind.PEEK, List.of(demand)));
    }

    /** Connections that wait before the first statement that commits. */
    private static DataSource waiting(DataSource source) {
        AtomicBoolean waited = new AtomicBoolean();
        return proxy(DataSource.class, source, (name, arguments, result) -> {
            return result instanceof Connection connection
                    ? proxy(Connection.class, connection, (called, with, prepared) -> {
                        if (called.equals("prepareStatement")
                                && with[0].toString().endsWith("COMMIT")
                                && waited.compareAndSet(false, true)) {
                            System.out.println(HOLDING);
                            System.in.read();
                        }
                        return prepared;
                    })
                    : result;
        });
    }

    private interface After {
        Object called(String name, Object[] arguments, Object result) throws Exception;
    }

    private static <T> T proxy(Class<T> type, T target, After after) {
        return type.cast(Proxy.newProxyInstance(
                type.getClassLoader(), new Class<?>[] {type}, (p, method, arguments) -> {
                    try {
                        return after.called(method.getName(), arguments, method.invoke(target, arguments));
                    } catch (InvocationTargetException e) {
                        throw e.getCause();
                    }
                }));
    }
}
