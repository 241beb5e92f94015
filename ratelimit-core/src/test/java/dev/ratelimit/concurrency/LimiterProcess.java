package dev.ratelimit.concurrency;

import com.zaxxer.hikari.HikariConfig;
import com.zaxxer.hikari.HikariDataSource;
import dev.ratelimit.Decision;
import dev.ratelimit.FailurePolicy;
import dev.ratelimit.Limit;
import dev.ratelimit.LimitRequest;
import dev.ratelimit.Limits;
import dev.ratelimit.Rate;
import dev.ratelimit.Subject;
import dev.ratelimit.algorithm.FixedWindow;
import dev.ratelimit.algorithm.SlidingLog;
import dev.ratelimit.algorithm.TokenBucket;
import dev.ratelimit.engine.Grouping;
import dev.ratelimit.engine.StoreRateLimiter;
import dev.ratelimit.store.LimitStore;
import dev.ratelimit.store.postgresql.PostgresLimitStore;
import dev.ratelimit.store.postgresql.swap.PostgresSwapStore;
import dev.ratelimit.store.shard.Shard;
import dev.ratelimit.store.shard.ShardedLimitStore;
import dev.ratelimit.store.sqlite.SqliteFile;
import dev.ratelimit.store.sqlite.SqliteLimitStore;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.locks.LockSupport;
import javax.sql.DataSource;

/**
 * The main class of a process with a rate limiter of its own, which a {@link LimiterChild} starts and talks to by lines
 * on the standard streams. Its lines begin with {@value #MARK}; whatever else is printed is not for the test.
 *
 * <p>Arguments: {@code sqlite}, the path of the file; or {@code postgresql} or
 * {@code postgresql-swap}, the address, the schema; or {@code shards}, the address, the schemas, separated by commas; then what to do.
 */
public final class LimiterProcess {

    static final String MARK = "limiter> ";
    static final int THREADS = 8;

    /** The most that each of {@link #LIMITS} grants: the time in which they renew themselves is ten years. */
    static final int GRANTED = 1_500;

    static final Duration AGES = Duration.ofDays(3650);

    static final List<Limit> LIMITS = List.of(
            Limit.named("fixed-window")
                    .algorithm(new FixedWindow(GRANTED, AGES))
                    .build(),
            Limit.named("sliding-log").algorithm(new SlidingLog(GRANTED, AGES)).build(),
            Limit.named("token-bucket")
                    .algorithm(new TokenBucket(GRANTED, Rate.of(1, AGES)))
                    .build());

    /** Counts without ever denying. */
    static final Limit ENDLESS = Limit.named("endless")
            .algorithm(new FixedWindow(1_000_000_000, AGES))
            .build();

    /** Five, and one more every ten minutes. */
    static final Limit SLOW = Limit.named("slow")
            .algorithm(new TokenBucket(5, Rate.of(1, Duration.ofMinutes(10))))
            .build();

    static final Subject SUBJECT = Subject.user("everybody");

    /** Another subject: of two shards with the names of {@link #shards}, it is on the one without {@link #SUBJECT}. */
    static final Subject ADDRESS = Subject.ip("203.0.113.7");

    private final StoreRateLimiter limiter;
    private final BufferedReader input = new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8));

    private LimiterProcess(LimitStore store) {
        this.limiter = StoreRateLimiter.builder(store, Limits.of(LIMITS))
                .grouping(Grouping.DEFAULT.withDeadline(Duration.ofMinutes(1)))
                .build();
    }

    public static void main(String[] args) throws Exception {
        int rest;
        LimitStore store;
        if (args[0].equals("sqlite")) {
            store = new SqliteLimitStore(SqliteFile.at(Path.of(args[1])).busyTimeout(Duration.ofMinutes(1)));
            rest = 2;
        } else {
            HikariConfig config = new HikariConfig();
            config.setJdbcUrl(args[1]);
            config.setMaximumPoolSize(2);
            HikariDataSource pool = new HikariDataSource(config);
            store = switch (args[0]) {
                case "shards" -> shards(pool, args[2].split(","));
                case "postgresql-swap" -> new PostgresSwapStore(pool, args[2]).withDeadline(Duration.ofMinutes(1));
                default -> new PostgresLimitStore(pool, args[2]);
            };
            rest = 3;
        }
        LimiterProcess process = new LimiterProcess(store);
        switch (args[rest]) {
            case "use-up" -> process.useUp();
            case "until-killed" -> process.untilKilled(request(ENDLESS));
            case "both-until-killed" -> process.untilKilled(request(ENDLESS).and(ADDRESS, ENDLESS));
            case "on-demand" -> process.onDemand();
            default -> throw new IllegalArgumentException(args[rest]);
        }
        System.exit(0);
    }

    /** One in each schema, with its name. */
    static ShardedLimitStore shards(DataSource database, String... schemas) {
        List<Shard> shards = new ArrayList<>();
        for (int i = 0; i < schemas.length; i++) {
            shards.add(new Shard("shard" + i, new PostgresLimitStore(database, schemas[i])));
        }
        return new ShardedLimitStore(shards, Duration.ofMinutes(1));
    }

    private static LimitRequest request(Limit limit) {
        return LimitRequest.of(SUBJECT, limit).onFailure(FailurePolicy.CLOSED);
    }

    private static void say(String line) {
        // One write for each line, so that the lines of several threads never mix and a killed process leaves whole
        // ones.
        byte[] bytes = (MARK + line + "\n").getBytes(StandardCharsets.UTF_8);
        synchronized (System.out) {
            System.out.write(bytes, 0, bytes.length);
            System.out.flush();
        }
    }

    private Decision decide(Limit limit) {
        return limiter.decide(request(limit));
    }

    /** Whether another line came before the end of the input. */
    private boolean awaitLine() throws IOException {
        return input.readLine() != null;
    }

    /** For each limit: at the signal, all threads ask until they have been denied a few times. */
    private void useUp() throws Exception {
        limiter.peek(LimitRequest.of(SUBJECT, LIMITS.get(0))); // connected before the start
        ExecutorService threads = Executors.newFixedThreadPool(THREADS);
        for (Limit limit : LIMITS) {
            say("ready");
            if (!awaitLine()) {
                return;
            }
            AtomicInteger admitted = new AtomicInteger();
            AtomicInteger undecided = new AtomicInteger();
            List<Future<?>> all = new ArrayList<>();
            for (int t = 0; t < THREADS; t++) {
                all.add(threads.submit(() -> {
                    int denied = 0;
                    for (int attempt = 0; attempt < GRANTED + 100 && denied < 5; attempt++) {
                        Decision decision = decide(limit);
                        if (!decision.outcome().isDecided()) {
                            undecided.incrementAndGet();
                        } else if (decision.allowed()) {
                            admitted.incrementAndGet();
                            LockSupport.parkNanos(500_000); // leaves the other processes their share
                        } else {
                            denied++;
                        }
                    }
                }));
            }
            for (Future<?> one : all) {
                one.get();
            }
            say(limit.name() + " " + admitted + " " + undecided);
        }
    }

    /** All threads ask as fast as they can, and say so after each decision that admitted. */
    private void untilKilled(LimitRequest request) throws IOException {
        for (int t = 0; t < THREADS; t++) {
            Thread thread = new Thread(() -> {
                while (true) {
                    Decision decision = limiter.decide(request);
                    say(decision.allowed() ? "admitted" : "not admitted: " + decision);
                }
            });
            thread.setDaemon(true);
            thread.start();
        }
        awaitLine();
    }

    /** One decision for each line: whether it admitted, the wait, the moment of decision and that of this machine. */
    private void onDemand() throws IOException {
        say("ready");
        while (awaitLine()) {
            Decision decision = decide(SLOW);
            say(decision.outcome() + " " + decision.retryAfter() + " " + decision.at() + " " + Instant.now());
        }
    }
}
