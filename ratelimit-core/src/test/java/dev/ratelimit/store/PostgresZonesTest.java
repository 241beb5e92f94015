package dev.ratelimit.store;

import static org.assertj.core.api.Assertions.assertThat;

import dev.ratelimit.Window;
import dev.ratelimit.setting.InvalidLimitException;
import dev.ratelimit.testing.postgres.TestPostgres;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.time.Instant;
import java.time.ZoneId;
import java.util.HashSet;
import java.util.Set;
import org.junit.jupiter.api.Test;

/** PostgreSQL looks for an abbreviation before it looks for a zone: its CET has no summer time, that of Java has. */
class PostgresZonesTest {

    @Test
    void zoneNamedLikeAnAbbreviationIsTakenOnlyIfItMeansTheSame() throws SQLException {
        try (Connection connection = TestPostgres.instance().dataSource().getConnection()) {
            Set<String> abbreviations = abbreviations(connection);
            for (String name : ZoneId.getAvailableZoneIds()) {
                if (abbreviations.contains(name) && isTaken(name)) {
                    for (String moment : new String[] {"2026-01-15T12:00:00Z", "2026-07-15T12:00:00Z"}) {
                        Instant instant = Instant.parse(moment);
                        assertThat(offset(connection, name, instant))
                                .as("%s at %s", name, moment)
                                .isEqualTo(ZoneId.of(name)
                                        .getRules()
                                        .getOffset(instant)
                                        .getTotalSeconds());
                    }
                }
            }
        }
    }

    private static boolean isTaken(String name) {
        try {
            Window.zone(name);
            return true;
        } catch (InvalidLimitException e) {
            return false;
        }
    }

    private static Set<String> abbreviations(Connection connection) throws SQLException {
        Set<String> names = new HashSet<>();
        try (PreparedStatement statement = connection.prepareStatement("SELECT abbrev FROM pg_timezone_abbrevs");
                ResultSet rows = statement.executeQuery()) {
            while (rows.next()) {
                names.add(rows.getString(1));
            }
        }
        return names;
    }

    private static long offset(Connection connection, String zone, Instant moment) throws SQLException {
        try (PreparedStatement statement =
                connection.prepareStatement("SELECT extract(epoch FROM to_timestamp(?) AT TIME ZONE ?)::bigint - ?")) {
            statement.setLong(1, moment.getEpochSecond());
            statement.setString(2, zone);
            statement.setLong(3, moment.getEpochSecond());
            try (ResultSet row = statement.executeQuery()) {
                row.next();
                return row.getLong(1);
            }
        }
    }
}
