package dev.ratelimit.benchmark;

import dev.ratelimit.benchmark.Sample.Answers;
import dev.ratelimit.benchmark.filter.Bucket4jConfiguration;
import dev.ratelimit.benchmark.load.DatabaseTime;
import dev.ratelimit.benchmark.load.Servers;
import dev.ratelimit.benchmark.load.Turn;
import dev.ratelimit.benchmark.peer.MeasuredLimits;
import io.github.bucket4j.Bucket;
import io.github.bucket4j.postgresql.Bucket4jPostgreSQL;
import java.io.IOException;
import java.io.InputStream;
import java.net.URISyntaxException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.sql.SQLException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.function.Supplier;

/** Whole requests to the sample: without limits, with limits on each store, and limited by Bucket4j. */
final class WholeRequests {

    /**
     * Each contender is a Java process of its own, which starts cold. On two cores it takes most of a minute until its compiler
     * is done; before that, all contenders are equally slow.
     */
    private static final double WARM_UP = 45;

    private static final double SECONDS = 1;

    /** Several intervals of the audit trail. */
    private static final double AUDITED_SECONDS = 5;

    /** As many connections as the limiter has by default. */
    private static final int POOL_SIZE = 4;

    /** The default. */
    private static final Duration AUDIT_INTERVAL = Duration.ofSeconds(1);

    private final Servers servers;
    private final Path jar;
    private final ProcessHandle database;

    private WholeRequests(Servers servers, Path jar) throws SQLException {
        this.servers = servers;
        this.jar = jar;
        this.database = servers.postgres();
    }

    /** Measures the families whose names have that part; none if the sample was not built. */
    static List<Family> measure(Servers servers, Path root, String only, int turns) throws Exception {
        Path jar = root.resolve("sample-app/target/sample-app.jar");
        WholeRequests requests = new WholeRequests(servers, jar);
        List<Family> families = Family.chosen(requests.families(), only);
        List<Family> audited = Family.chosen(requests.audited(), only);
        List<Family> all = new ArrayList<>(families);
        all.addAll(audited);
        if (!all.isEmpty() && !Files.exists(jar)) {
            System.out.println("whole requests: not measured, since there is no " + root.relativize(jar));
            return List.of();
        }
        new Rounds(turns, WARM_UP, SECONDS).run(families);
        new Rounds(turns, WARM_UP, AUDITED_SECONDS).run(audited);
        return all;
    }

    private List<Family> families() throws Exception {
        Contender unlimited = unlimited();
        Contender memory = memory();
        Contender sqlite = sqlite();
        Contender postgres = postgres();
        Contender bucket4j = bucket4j();
        return List.of(
                new Family(unlimited, memory, sqlite)
                        .ratio("http-memory/http-unlimited", memory, unlimited, Goal.NONE)
                        .ratio("http-sqlite/http-unlimited", sqlite, unlimited, Goal.NONE),
                new Family(unlimited, postgres, bucket4j)
                        .ratio("http-postgresql/http-unlimited", postgres, unlimited, Goal.NONE)
                        .ratio("http-postgresql/http-bucket4j-postgresql", postgres, bucket4j, Goal.atLeast(1.5)));
    }

    private List<Family> audited() {
        return List.of(
                audit("http-audit-denied", "denied", Answers.SOME_DENIED, Goal.atMost(1.03)),
                audit("http-audit-attack", "denied", Answers.DENIED, Goal.NONE),
                audit("http-audit-all", "all", Answers.ALLOWED, Goal.atMost(1.1)));
    }

    /** The processor time that audit costs beside totals, and that both cost, of application and database together. */
    private Family audit(String name, String mode, Answers answers, Goal goal) {
        Contender neither = audited(name + "-neither", "off", false, answers);
        Contender totals = audited(name + "-totals", "off", true, answers);
        Contender both = audited(name, mode, true, answers);
        return new Family(neither, totals, both)
                .ratio(name + "/totals", List.of(both), totals, Turn::allMicros, goal)
                .ratio(name + "/neither", List.of(both), neither, Turn::allMicros, Goal.NONE);
    }

    private Contender audited(String name, String mode, boolean totals, Answers answers) {
        return new Sample(
                name,
                jar,
                servers.folder(),
                List.of(),
                List.of(
                        "--ratelimit.store.type=postgresql",
                        "--ratelimit.store.postgresql.schema=" + name.replace('-', '_'),
                        "--ratelimit.store.postgresql.pool-size=" + POOL_SIZE,
                        "--ratelimit.store.postgresql.url=" + servers.postgresUrl(),
                        "--ratelimit.audit.mode=" + mode,
                        "--ratelimit.audit.totals=" + totals,
                        "--ratelimit.audit.interval=" + AUDIT_INTERVAL.toMillis() + "ms"),
                () -> DatabaseTime.now(database),
                answers,
                WholeRequests::awaitAudit);
    }

    /** Totals are written every five intervals: what a turn has to write must not fall into the next one. */
    private static void awaitAudit() {
        try {
            TimeUnit.MILLISECONDS.sleep(6 * AUDIT_INTERVAL.toMillis());
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new IllegalStateException(e);
        }
    }

    private Contender unlimited() {
        return sample(
                "http-unlimited",
                List.of(),
                List.of(
                        "--ratelimit.store.type=memory",
                        "--ratelimit.api-keys.enabled=false",
                        "--ratelimit.rules.reads.path=/nothing"),
                () -> DatabaseTime.NOT_MEASURED,
                Answers.UNLIMITED);
    }

    private Contender memory() {
        return sample(
                "http-memory",
                List.of(),
                List.of("--ratelimit.store.type=memory", "--ratelimit.api-keys.enabled=false"),
                () -> DatabaseTime.NOT_MEASURED,
                Answers.ALLOWED);
    }

    private Contender sqlite() {
        return sample(
                "http-sqlite",
                List.of(),
                List.of(
                        "--ratelimit.store.type=sqlite",
                        "--ratelimit.store.sqlite.path=" + servers.folder().resolve("http.db")),
                () -> DatabaseTime.NOT_MEASURED,
                Answers.ALLOWED);
    }

    private Contender postgres() {
        return sample(
                "http-postgresql",
                List.of(),
                List.of(
                        "--ratelimit.store.type=postgresql",
                        "--ratelimit.store.postgresql.schema=http",
                        "--ratelimit.store.postgresql.pool-size=" + POOL_SIZE,
                        "--ratelimit.store.postgresql.url=" + servers.postgresUrl()),
                () -> DatabaseTime.now(database),
                Answers.ALLOWED);
    }

    private Contender bucket4j() throws IOException, URISyntaxException {
        return sample(
                "http-bucket4j-postgresql",
                bucket4jClassPath(),
                List.of(
                        "--spring.main.sources=" + Bucket4jConfiguration.class.getName(),
                        "--ratelimit.store.type=memory",
                        "--ratelimit.api-keys.enabled=false",
                        "--ratelimit.rules.reads.path=/nothing",
                        "--bucket4j.url=" + servers.postgresUrl(),
                        "--bucket4j.pool-size=" + POOL_SIZE,
                        "--bucket4j.burst=" + MeasuredLimits.PLENTY),
                () -> DatabaseTime.now(database),
                Answers.ALLOWED);
    }

    private Contender sample(
            String name, List<Path> classPath, List<String> arguments, Supplier<DatabaseTime> clock, Answers answers) {
        return new Sample(name, jar, servers.folder(), classPath, arguments, clock, answers, () -> {});
    }

    /** The filter alone and the library: the other classes of this module would change the sample. */
    private List<Path> bucket4jClassPath() throws IOException, URISyntaxException {
        Path folder = servers.folder().resolve("filter");
        for (Class<?> part : Bucket4jConfiguration.parts()) {
            String file = part.getName().replace('.', '/') + ".class";
            Files.createDirectories(folder.resolve(file).getParent());
            try (InputStream in = part.getClassLoader().getResourceAsStream(file)) {
                Files.copy(in, folder.resolve(file));
            }
        }
        List<Path> classPath = new ArrayList<>(List.of(folder));
        for (Class<?> library : List.of(Bucket.class, Bucket4jPostgreSQL.class)) {
            classPath.add(Path.of(
                    library.getProtectionDomain().getCodeSource().getLocation().toURI()));
        }
        return classPath;
    }
}
