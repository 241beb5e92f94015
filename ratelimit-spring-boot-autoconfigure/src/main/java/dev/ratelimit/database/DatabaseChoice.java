package dev.ratelimit.database;

import dev.ratelimit.connection.ApplicationDataSource;
import dev.ratelimit.connection.MissingDriverException;
import dev.ratelimit.connection.PostgresSource;
import dev.ratelimit.database.StoreProperties.Postgresql;
import dev.ratelimit.schema.Schema;
import dev.ratelimit.setting.InvalidPropertyException;
import dev.ratelimit.store.jdbc.DatabaseProduct;
import dev.ratelimit.store.sqlite.SqliteFile;
import java.nio.file.Path;
import java.util.List;
import java.util.function.Supplier;
import javax.sql.DataSource;
import org.jspecify.annotations.Nullable;
import org.springframework.core.env.Environment;
import org.springframework.util.ClassUtils;

/**
 * Chooses where counts, limits and rules are kept. A file is chosen by itself only where that cannot surprise: without any database of the application, or
 * beside one that is a file, too. In all other cases instances that seem to share a database would count by themselves.
 */
public final class DatabaseChoice {

    private static final String SQLITE_DRIVER = "org.sqlite.SQLiteDataSource";

    private final boolean enabled;
    private final StoreProperties store;
    private final PolicyStore policies;
    private final Supplier<@Nullable DataSource> application;
    private final Environment environment;
    private @Nullable StateDatabase state;

    /**
     * @param enabled whether limits apply at all
     * @param policies the database for limits and rules
     * @param application the data source of the application; asked for only if it is needed
     * @param environment says whether a file is configured
     */
    public DatabaseChoice(
            boolean enabled,
            StoreProperties store,
            PolicyStore policies,
            Supplier<@Nullable DataSource> application,
            Environment environment) {
        this.enabled = enabled;
        this.store = store;
        this.policies = policies;
        this.application = application;
        this.environment = environment;
    }

    /** For counts. */
    public synchronized StateDatabase state() {
        if (!enabled) {
            return new StateDatabase.Memory(); // while limits are off, nothing that is wrong with a database matters
        }
        if (state == null) {
            refuseUserWithoutUrl();
            state = switch (store.type()) {
                case MEMORY -> new StateDatabase.Memory();
                case SQLITE -> sqlite();
                case POSTGRESQL -> postgres();
                case AUTO -> auto();
            };
        }
        return state;
    }

    /**
     * For limits and rules.
     *
     * @param counts where counts are; {@code null} if the application keeps them
     */
    public StateDatabase policies(@Nullable StateDatabase counts) {
        return switch (policies) {
            case AUTO -> counts == null ? state() : counts;
            case SQLITE -> counts instanceof StateDatabase.Sqlite ? counts : sqlite();
            case POSTGRESQL -> counts instanceof PostgresDatabase ? counts : postgres();
        };
    }

    /**
     * The SQLite files with counts, limits and rules; none if all of them are kept elsewhere.
     *
     * @param counts where counts are; {@code null} if the application keeps them
     */
    public List<SqliteFile> files(@Nullable StateDatabase counts) {
        boolean apart = enabled && policies != PolicyStore.AUTO && !(counts instanceof StateDatabase.Sqlite);
        StateDatabase database = apart ? policies(counts) : counts;
        return database instanceof StateDatabase.Sqlite sqlite ? List.of(sqlite.file()) : List.of();
    }

    private StateDatabase auto() {
        if (store.postgresql().url() != null) {
            return postgres();
        }
        DataSource dataSource = application.get();
        return dataSource == null || ApplicationDataSource.product(dataSource) == DatabaseProduct.SQLITE
                ? sqlite(DefaultFile.path(store, environment))
                : new PostgresDatabase(new PostgresSource.Application(dataSource), store.postgresql(), store.migrate());
    }

    private PostgresDatabase postgres() {
        Postgresql settings = store.postgresql();
        String url = settings.url();
        if (url != null) {
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

    private StateDatabase sqlite() {
        return sqlite(Path.of(store.sqlite().path()));
    }

    private StateDatabase sqlite(Path path) {
        if (!ClassUtils.isPresent(SQLITE_DRIVER, null)) {
            throw new MissingDriverException("jdbc:sqlite", new ClassNotFoundException(SQLITE_DRIVER));
        }
        SqliteFile file = SqliteFile.at(path).synchronous(store.sqlite().synchronous());
        return new StateDatabase.Sqlite(store.migrate() ? file.createdAgainBy(Schema::migrate) : file, store.migrate());
    }

    private void refuseUserWithoutUrl() {
        Postgresql settings = store.postgresql();
        if (settings.url() == null && settings.username() != null) {
            throw withoutUrl("username", settings.username());
        }
        if (settings.url() == null && settings.password() != null) {
            throw withoutUrl("password", "******");
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
