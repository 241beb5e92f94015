package dev.ratelimit.connection;

import com.zaxxer.hikari.HikariDataSource;
import dev.ratelimit.store.jdbc.DatabaseProduct;
import dev.ratelimit.store.jdbc.UnsupportedDatabaseException;
import dev.ratelimit.support.LogText;
import java.sql.Connection;
import java.sql.SQLException;
import java.util.Collection;
import java.util.function.Function;
import javax.sql.DataSource;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.springframework.beans.factory.NoUniqueBeanDefinitionException;
import org.springframework.beans.factory.ObjectProvider;
import org.springframework.jdbc.datasource.DelegatingDataSource;
import org.springframework.jdbc.datasource.LazyConnectionDataSourceProxy;
import org.springframework.jdbc.datasource.TransactionAwareDataSourceProxy;
import org.springframework.jdbc.datasource.lookup.AbstractRoutingDataSource;
import org.springframework.util.ClassUtils;

/** Finds the data source of the application that leads to the database for rate limits, and asks it which product that is. */
public final class ApplicationDataSource {

    private static final Logger log = LoggerFactory.getLogger(ApplicationDataSource.class);

    /** Whether HikariCP is there. */
    static final boolean HIKARI =
            ClassUtils.isPresent("com.zaxxer.hikari.HikariDataSource", ApplicationDataSource.class.getClassLoader());

    private ApplicationDataSource() {}

    /**
     * The marked data source, else the only or primary one; {@code null} if there is none.
     *
     * @param marked those with {@code @RateLimitDataSource}
     * @throws UnusableDataSourceException if there are several, or it leads to several databases
     */
    public static @Nullable DataSource find(ObjectProvider<DataSource> marked, ObjectProvider<DataSource> all) {
        DataSource found = only(marked, UnusableDataSourceException::severalMarked);
        if (found == null) {
            found = only(
                    all,
                    names -> new UnusableDataSourceException(
                            "your application has several DataSources, and none is primary: " + names, null));
        }
        return found == null ? null : withoutProxies(found);
    }

    private static @Nullable DataSource only(
            ObjectProvider<DataSource> some, Function<String, UnusableDataSourceException> several) {
        try {
            return some.getIfAvailable();
        } catch (NoUniqueBeanDefinitionException e) {
            Collection<String> names = e.getBeanNamesFound();
            // Without the cause, for which Spring Boot has an analysis of its own.
            throw several.apply(names == null ? String.valueOf(e.getMessage()) : names.toString());
        }
    }

    /** A connection that joins the transaction of its thread would be the application's own. */
    private static DataSource withoutProxies(DataSource found) {
        DataSource dataSource = found;
        while (dataSource instanceof TransactionAwareDataSourceProxy
                || dataSource instanceof LazyConnectionDataSourceProxy) {
            DataSource target = ((DelegatingDataSource) dataSource).getTargetDataSource();
            if (target == null) {
                break;
            }
            dataSource = target;
        }
        if (dataSource instanceof AbstractRoutingDataSource) {
            throw new UnusableDataSourceException(
                    "the DataSource of your application ("
                            + dataSource.getClass().getName()
                            + ") leads to several databases. Each would have its own count.",
                    null);
        }
        return dataSource;
    }

    /**
     * Asks the database. Only where the driver leaves no doubt is it not asked: then a database that is down is reported by the
     * store that needs it.
     *
     * @throws UnusableDataSourceException if it is of another product, too old, or does not answer
     */
    public static DatabaseProduct product(DataSource dataSource) {
        if (isOfPostgresDriver(dataSource)) {
            return DatabaseProduct.POSTGRESQL;
        }
        try (Connection connection = dataSource.getConnection()) {
            return DatabaseProduct.of(connection);
        } catch (UnsupportedDatabaseException e) {
            throw new UnusableDataSourceException(
                    "the DataSource of your application leads to an " + e.getMessage() + ".", e);
        } catch (SQLException | RuntimeException e) {
            throw new UnusableDataSourceException(
                    "the DataSource of your application ("
                            + dataSource.getClass().getName()
                            + ") could not be asked which database it leads to: " + e.getMessage()
                            + ". If it is PostgreSQL, set ratelimit.store.type to postgresql.",
                    e,
                    true);
        }
    }

    private static boolean isOfPostgresDriver(DataSource dataSource) {
        HikariDataSource pool = hikari(dataSource);
        if (pool == null) {
            return isPostgres(dataSource.getClass().getName());
        }
        String url = pool.getJdbcUrl();
        String className = pool.getDataSourceClassName();
        DataSource factory = pool.getDataSource();
        return isPostgresUrl(url)
                || (className != null && isPostgres(className))
                || (factory != null && isPostgres(factory.getClass().getName()));
    }

    /** Whether the URL is one that the driver of PostgreSQL takes. */
    static boolean isPostgresUrl(@Nullable String url) {
        return url != null && url.startsWith("jdbc:postgresql:");
    }

    private static boolean isPostgres(String className) {
        return className.startsWith("org.postgresql.");
    }

    /** The HikariCP pool behind the data source, or {@code null} if it is of another kind or does not show it. */
    static @Nullable HikariDataSource hikari(DataSource dataSource) {
        try {
            return HIKARI && dataSource.isWrapperFor(HikariDataSource.class)
                    ? dataSource.unwrap(HikariDataSource.class)
                    : null;
        } catch (SQLException | RuntimeException e) {
            log.debug("Could not unwrap the application's data source: {}", LogText.of(e.getMessage()));
            return null;
        }
    }
}
