package dev.ratelimit.connection;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import dev.ratelimit.testing.postgres.TestPostgres;
import java.sql.Connection;
import java.sql.SQLException;
import java.sql.SQLTransientConnectionException;
import java.time.Duration;
import org.apache.commons.dbcp2.BasicDataSource;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.postgresql.PGConnection;

/** A pool of the application is borrowed from with a bound, and never for longer than the deadline. */
class BorrowedConnectionsTest {

    private static final int BOUND = 2;

    private final BasicDataSource pool = pool(4);
    private final BorrowedConnections borrowed = new BorrowedConnections(pool, BOUND);

    private static BasicDataSource pool(int size) {
        BasicDataSource pool = new BasicDataSource();
        pool.setUrl(TestPostgres.instance().jdbcUrl());
        pool.setMaxTotal(size);
        pool.setAccessToUnderlyingConnectionAllowed(true);
        return pool;
    }

    @AfterEach
    void close() throws SQLException {
        borrowed.close();
        pool.close();
    }

    @Test
    void neverMoreThanTheBound() throws SQLException {
        try (Connection first = borrowed.getConnection();
                Connection second = borrowed.getConnection()) {
            assertThat(first).isNotEqualTo(second);
            borrowed.setDeadline(Duration.ofMillis(50));
            assertThatThrownBy(borrowed::getConnection)
                    .isInstanceOf(SQLTransientConnectionException.class)
                    .hasMessage("all 2 connections that may be borrowed from the application are in use");
            assertThat(pool.getNumActive()).isEqualTo(BOUND);
        }
        assertThat(pool.getNumActive()).isZero();
        borrowed.setDeadline(Duration.ofSeconds(30));
        borrowed.getConnection().close();
    }

    /** The pool itself would wait forever. */
    @Test
    void busyPoolKeepsNobodyForLongerThanTheDeadline() throws SQLException {
        BasicDataSource small = pool(1);
        BorrowedConnections fromSmall = new BorrowedConnections(small, BOUND);
        fromSmall.setDeadline(Duration.ofMillis(50));
        try (Connection ofTheApplication = small.getConnection()) {
            assertThat(ofTheApplication.isValid(10)).isTrue();
            assertThatThrownBy(fromSmall::getConnection)
                    .isInstanceOf(SQLTransientConnectionException.class)
                    .hasMessage("the pool of the application has no free connection");
        }
        // The late connection has gone back, and its place in the bound is free again.
        fromSmall.setDeadline(Duration.ofSeconds(30));
        for (int i = 0; i < 3 * BOUND; i++) {
            fromSmall.getConnection().close();
        }
        await().until(() -> small.getNumActive() == 0);
        small.close();
    }

    @Test
    void connectionIsReturnedAsItWas() throws SQLException {
        borrowed.neverPrepare();
        pool.setMaxTotal(1);
        pool.setDefaultAutoCommit(false);
        pool.setRollbackOnReturn(true);
        try (Connection connection = borrowed.getConnection()) {
            connection.setAutoCommit(true);
            connection.setNetworkTimeout(Runnable::run, 600);
            assertThat(connection.unwrap(PGConnection.class).getPrepareThreshold())
                    .isZero();
        }
        try (Connection connection = pool.getConnection()) {
            assertThat(connection.getAutoCommit()).isFalse();
            assertThat(connection.getNetworkTimeout()).isZero();
            assertThat(connection.unwrap(PGConnection.class).getPrepareThreshold())
                    .isEqualTo(5);
        }
    }

    @Test
    void connectionIsReturnedOnce() throws SQLException {
        Connection connection = borrowed.getConnection();
        connection.close();
        connection.close();
        assertThat(connection.isClosed()).isTrue();

        try (Connection first = borrowed.getConnection();
                Connection second = borrowed.getConnection()) {
            assertThat(first).isNotEqualTo(second);
            borrowed.setDeadline(Duration.ofMillis(50));
            assertThatThrownBy(borrowed::getConnection).isInstanceOf(SQLTransientConnectionException.class);
        }
    }

    @Test
    void failureOfThePoolIsSaid() {
        pool.setUrl("jdbc:postgresql://127.0.0.1:1/none");
        for (int i = 0; i < 3 * BOUND; i++) {
            assertThatThrownBy(borrowed::getConnection)
                    .isInstanceOf(SQLTransientConnectionException.class)
                    .hasMessageContaining("127.0.0.1:1 refused");
        }
    }
}
