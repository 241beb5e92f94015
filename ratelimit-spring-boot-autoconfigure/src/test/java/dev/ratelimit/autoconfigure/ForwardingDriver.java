package dev.ratelimit.autoconfigure;

import java.sql.Connection;
import java.sql.Driver;
import java.sql.DriverManager;
import java.sql.DriverPropertyInfo;
import java.sql.SQLException;
import java.util.Properties;
import java.util.logging.Logger;

/** A driver with a prefix of its own for JDBC URLs, which calls another driver with another URL. */
abstract class ForwardingDriver implements Driver {

    private final String prefix;

    ForwardingDriver(String prefix) {
        this.prefix = prefix;
    }

    /** The URL for the other driver. */
    abstract String target(String url);

    @Override
    public Connection connect(String url, Properties info) throws SQLException {
        return acceptsURL(url) ? DriverManager.getConnection(target(url), info) : null;
    }

    @Override
    public boolean acceptsURL(String url) {
        return url.startsWith(prefix);
    }

    @Override
    public DriverPropertyInfo[] getPropertyInfo(String url, Properties info) {
        return new DriverPropertyInfo[0];
    }

    @Override
    public int getMajorVersion() {
        return 1;
    }

    @Override
    public int getMinorVersion() {
        return 0;
    }

    @Override
    public boolean jdbcCompliant() {
        return false;
    }

    @Override
    public Logger getParentLogger() {
        return Logger.getGlobal();
    }
}
