package dev.ratelimit.database;

import dev.ratelimit.connection.ApplicationDataSource;
import dev.ratelimit.connection.MissingDriverException;
import dev.ratelimit.connection.PostgresSource;
import dev.ratelimit.connection.UnusableDataSourceException;
import dev.ratelimit.database.StoreProperties.Postgresql;
import dev.ratelimit.schema.Schema;
import dev.ratelimit.setting.InvalidPropertyException;
import dev.ratelimit.store.LimitStore;
import dev.ratelimit.store.jdbc.DatabaseProduct;
import dev.ratelimit.store.move.MovingLimitStore;
import dev.ratelimit.store.sqlite.SqliteFile;
import dev.ratelimit.support.Keyword;
import dev.ratelimit.support.LogText;
import java.nio.file.Path;
import java.time.Duration;
import java.time.InstantSource;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.function.Supplier;
import javax.sql.DataSource;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.springframework.core.env.Environment;
import org.springframework.util.ClassUtils;

/**
 * Chooses where counts, limits and rules are kept. A file is chosen by itself only where that cannot surprise: without any
 * database of the application, or beside one that is a file, too. In all other cases instances that seem to share a database
 * would count by themselves. Redis is chosen by itself only if the application has no PostgreSQL.
 */
public final class DatabaseChoice {

    private static final Logger log = LoggerFactory.getLogger(DatabaseChoice.class);

    private static final String SQLITE_DRIVER = "org.sqlite.SQLiteDataSource";

    private final boolean enabled;
    private final StoreProperties store;
    private final PolicyStore policies;
    private final Supplier<@Nullable DataSource> application;
    private final Supplier<@Nullable CountsDatabase> contributed;
    private final Environment environment;
    private @Nullable StateDatabase state;
    private @Nullable StateDatabase previous;
    private @Nullable PostgresDatabase besideCounts;

    /** Once for counts, limits and rules: in a test it may be that of a temporary file. */
    private @Nullable Path path;

    /**
     * @param enabled whether limits apply at all
     * @param policies the database for limits and rules
     * @param application the data source of the application; asked for only if it is needed
     * @param contributed the place for counts of a module
     * @param environment says whether a file is configured
     */
    public DatabaseChoice(
            boolean enabled,
            StoreProperties store,
            PolicyStore policies,
            Supplier<@Nullable DataSource> application,
            Supplier<@Nullable CountsDatabase> contributed,
            Environment environment) {
        this.enabled = enabled;
        this.store = store;
        this.policies = policies;
        this.application = application;
        this.contributed = contributed;
        this.environment = environment;
    }

    /** For counts. */
    public synchronized StateDatabase state() {
        if (!enabled) {
            return new StateDatabase.Memory(); // while limits are off, nothing that is wrong with a database matters
        }
        if (state == null) {
            refuseUserWithoutUrl();
            refuseOtherThanShards();
            state = switch (store.type()) {
                case MEMORY -> new StateDatabase.Memory();
                case SQLITE -> sqlite();
                case POSTGRESQL -> isSharded() ? shards() : postgres();
                case REDIS -> redis("ratelimit.store.type");
                case AUTO -> isSharded() ? shards() : auto();
            };
        }
        return state;
    }

    /**
     * The database to move from, in which requests count beside {@link #state()}.
     *
     * @return {@code null} if there is none
     */
    public synchronized @Nullable StateDatabase previous() {
        StoreProperties.Type type = store.previous().type();
        if (type == null || !enabled) {
            return null;
        }
        if (previous == null) {
            StateDatabase now = state();
            StateDatabase before = switch (type) {
                case SQLITE -> sqlite();
                case POSTGRESQL -> isSharded() ? shards() : postgres();
                case REDIS -> redis("ratelimit.store.previous.type");
                case MEMORY -> throw invalidPrevious(type, "counts in memory end with the process");
                case AUTO -> throw invalidPrevious(type, "name the store that held the counts so far");
            };
            if (now.getClass() == before.getClass()) {
                throw invalidPrevious(type, "counts are in " + now + " already");
            }
            previous = before;
        }
        return previous;
    }

    private static InvalidPropertyException invalidPrevious(StoreProperties.Type type, String reason) {
        return new InvalidPropertyException(
                "ratelimit.store.previous.type",
                Keyword.of(type),
                "write sqlite, postgresql or redis, but not the type that is in use now; or leave this out: " + reason);
    }

    /**
     * Opens the store of counts: in the database to move from, too, if there is one.
     *
     * @param deadline the longest time that a request waits for a decision
     * @param clock the clock, or {@code null} for that of the store
     */
    public LimitStore open(Duration deadline, @Nullable InstantSource clock) {
        LimitStore current = state().open(deadline, clock);
        try {
            StateDatabase before = previous();
            return before == null ? current : new MovingLimitStore(before.open(deadline, clock), current);
        } catch (RuntimeException e) {
            current.close();
            throw e;
        }
    }

    /**
     * For limits and rules, and for the audit trail.
     *
     * @param counts where counts are; {@code null} if the application keeps them
     * @return {@code null} if there is no database for them: a file is never chosen by itself beside counts that instances share
     */
    public synchronized @Nullable StateDatabase policies(@Nullable StateDatabase counts) {
        return switch (policies) {
            case AUTO -> {
                StateDatabase known = counts == null ? state() : counts;
                yield known instanceof CountsDatabase ? besideCounts() : known.main();
            }
            case SQLITE -> counts instanceof StateDatabase.Sqlite ? counts : sqlite();
            case POSTGRESQL ->
                counts != null && counts.main() instanceof PostgresDatabase
                        ? counts.main()
                        : isSharded() ? shards().main() : postgres();
        };
    }

    /**
     * The SQLite files with counts, limits and rules; none if all of them are kept elsewhere.
     *
     * @param counts where counts are; {@code null} if the application keeps them
     */
    public synchronized List<SqliteFile> files(@Nullable StateDatabase counts) {
        boolean apart = enabled && policies != PolicyStore.AUTO && !(counts instanceof StateDatabase.Sqlite);
        StateDatabase database = apart ? policies(counts) : counts;
        return database instanceof StateDatabase.Sqlite sqlite ? List.of(sqlite.file()) : List.of();
    }

    private @Nullable PostgresDatabase besideCounts() {
        if (besideCounts == null && (store.postgresql().url() != null || hasPostgres())) {
            besideCounts = postgres();
        }
        return besideCounts;
    }

    private CountsDatabase redis(String property) {
        CountsDatabase found = contributed.get();
        if (found == null) {
            throw new InvalidPropertyException(
                    property,
                    "redis",
                    "add the dependency dev.ratelimit:ratelimit-redis, or write sqlite, postgresql or memory");
        }
        return found;
    }

    private StateDatabase auto() {
        if (store.postgresql().url() != null) {
            return postgres();
        }
        CountsDatabase redis = contributed.get();
        if (redis == null || !redis.isConfigured()) {
            DataSource dataSource = application.get();
            return dataSource == null || ApplicationDataSource.product(dataSource) == DatabaseProduct.SQLITE
                    ? sqlite()
                    : postgres();
        }
        if (!hasPostgres()) {
            return redis;
        }
        log.info(
                "Keeping rate limits in the PostgreSQL DataSource of the application, though {} is there, too;"
                        + " to use that, set ratelimit.store.type: redis",
                LogText.of(String.valueOf(redis)));
        return postgres();
    }

    /** Whether the application has a data source that leads to PostgreSQL, and no doubt about which. */
    private boolean hasPostgres() {
        try {
            DataSource found = application.get();
            return found != null && ApplicationDataSource.product(found) == DatabaseProduct.POSTGRESQL;
        } catch (UnusableDataSourceException e) {
            if (e.mustBeReported()) {
                throw e;
            }
            log.debug("Not keeping rate limits in a DataSource of the application: {}", LogText.of(e.getMessage()));
            return false;
        }
    }

    private boolean isSharded() {
        return !store.postgresql().shards().isEmpty();
    }

    private ShardedDatabase shards() {
        Postgresql settings = store.postgresql();
        Map<String, PostgresDatabase> shards = new LinkedHashMap<>();
        ShardNames.of(settings.shards())
                .forEach((name, url) -> shards.put(
                        name,
                        new PostgresDatabase(
                                new PostgresSource.Address(url, settings.username(), settings.password()),
                                settings,
                                store.migrate())));
        return new ShardedDatabase(shards, store.required());
    }

    private PostgresDatabase postgres() {
        Postgresql settings = store.postgresql();
        String url = settings.url();
        if (url != null) {
            requireJdbc(url);
            return new PostgresDatabase(
                    new PostgresSource.Address(url, settings.username(), settings.password()),
                    settings,
                    store.migrate());
        }
        DataSource dataSource = application.get();
        if (dataSource == null) {
            throw new InvalidPropertyException(
                    "ratelimit.store.postgresql.url",
                    null,
                    "write the JDBC URL of the database, such as jdbc:postgresql://localhost/app:"
                            + " the application has no DataSource");
        }
        return new PostgresDatabase(new PostgresSource.Application(dataSource), settings, store.migrate());
    }

    /** Other tools write an address with the password in it, so the value is not shown. */
    private static void requireJdbc(String url) {
        if (!url.startsWith("jdbc:") || url.startsWith("jdbc:postgres:")) {
            throw new InvalidPropertyException(
                    "ratelimit.store.postgresql.url",
                    url.substring(0, Math.max(0, url.indexOf("://") + 1)) + "…",
                    "write a JDBC URL such as jdbc:postgresql://HOST:5432/DATABASE, and set"
                            + " ratelimit.store.postgresql.username and password");
        }
    }

    private StateDatabase sqlite() {
        if (!ClassUtils.isPresent(SQLITE_DRIVER, null)) {
            throw new MissingDriverException("jdbc:sqlite", new ClassNotFoundException(SQLITE_DRIVER));
        }
        if (path == null) {
            path = DefaultFile.path(store, environment);
        }
        SqliteFile file = SqliteFile.at(path).synchronous(store.sqlite().synchronous());
        return new StateDatabase.Sqlite(store.migrate() ? file.createdAgainBy(Schema::migrate) : file, store.migrate());
    }

    private void refuseUserWithoutUrl() {
        Postgresql settings = store.postgresql();
        if (isSharded()) {
            return;
        }
        if (settings.url() == null && settings.username() != null) {
            throw withoutUrl("username", settings.username());
        }
        if (settings.url() == null && settings.password() != null) {
            throw withoutUrl("password", "******");
        }
    }

    private void refuseOtherThanShards() {
        if (!isSharded() && environment.containsProperty(ShardNames.PROPERTY)) {
            throw new InvalidPropertyException(
                    ShardNames.PROPERTY,
                    "",
                    "write the JDBC URLs of the databases, or leave it out and set ratelimit.store.postgresql.url");
        }
        if (isSharded() && store.postgresql().url() != null) {
            throw new InvalidPropertyException(
                    "ratelimit.store.postgresql.url",
                    "******",
                    "leave it out, or remove " + ShardNames.PROPERTY
                            + ": limits, rules and audit are kept in the first shard");
        }
    }

    private static InvalidPropertyException withoutUrl(String property, @Nullable String shown) {
        return new InvalidPropertyException(
                "ratelimit.store.postgresql." + property,
                shown,
                "set ratelimit.store.postgresql.url, too, or leave this out:"
                        + " a DataSource of the application has its own user and password");
    }
}
