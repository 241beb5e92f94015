package dev.ratelimit.audit.sql;

import static org.assertj.core.api.Assertions.assertThat;

import java.net.ConnectException;
import java.sql.SQLException;
import java.sql.SQLTransientConnectionException;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class OutageTest {

    @Test
    void databaseThatIsAwayNeedsNoStackTrace() {
        Throwable failure = new IllegalStateException(
                "Failed to obtain JDBC Connection",
                new SQLTransientConnectionException(
                        "no connection",
                        new SQLException("Connection to db:5432 refused", "08001", new ConnectException("refused"))));

        assertThat(Outage.trace(failure)).isNull();
        assertThat(Outage.reason(failure)).isEqualTo("Connection to db:5432 refused");
    }

    @ParameterizedTest
    @ValueSource(strings = {"08006", "57P01", "57P03"})
    void lostConnectionAndServerThatStopsOrStartsAreOutages(String state) {
        assertThat(Outage.trace(new SQLException("gone", state))).isNull();
    }

    @ParameterizedTest
    @ValueSource(strings = {"57014", "42P01", "53300"})
    void otherFailuresOfTheDatabaseHaveTheirStackTrace(String state) {
        SQLException failure = new SQLException("relation does not exist", state);
        assertThat(Outage.trace(failure)).isSameAs(failure);
        assertThat(Outage.reason(failure)).isEqualTo("relation does not exist");
    }

    @Test
    void failureThatHasNothingToDoWithADatabaseHasItsStackTrace() {
        RuntimeException failure = new IllegalStateException("mistake");
        assertThat(Outage.trace(failure)).isSameAs(failure);
        assertThat(Outage.reason(failure)).isEqualTo("mistake");
    }

    @Test
    void nothingInAReasonBeginsANewLine() {
        assertThat(Outage.reason(new SQLException("gone\nforged", "08006"))).doesNotContain("\n");
    }
}
