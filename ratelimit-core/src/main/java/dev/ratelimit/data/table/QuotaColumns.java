package dev.ratelimit.data.table;

import dev.ratelimit.Limit;
import dev.ratelimit.caller.Quota;
import dev.ratelimit.setting.InvalidLimitException;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.time.DateTimeException;
import java.time.ZoneId;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/** The quota of a user or an API key. */
public record QuotaColumns(
        @Nullable Long perSecond,
        @Nullable Long perHour,
        @Nullable Long perDay,
        @Nullable Long perMonth,
        @Nullable Long burst,
        @Nullable String zone) {

    static final QuotaColumns NONE = of(Quota.NONE);

    static QuotaColumns of(Quota quota) {
        ZoneId zone = quota.zone();
        return new QuotaColumns(
                quota.perSecond(),
                quota.perHour(),
                quota.perDay(),
                quota.perMonth(),
                quota.burst(),
                zone == null ? null : zone.getId());
    }

    static QuotaColumns of(ResultSet row) throws SQLException {
        return new QuotaColumns(
                Table.longOrNull(row, "per_second"),
                Table.longOrNull(row, "per_hour"),
                Table.longOrNull(row, "per_day"),
                Table.longOrNull(row, "per_month"),
                Table.longOrNull(row, "burst"),
                row.getString("zone"));
    }

    void putInto(Map<String, @Nullable Object> columns) {
        columns.put("per_second", perSecond);
        columns.put("per_hour", perHour);
        columns.put("per_day", perDay);
        columns.put("per_month", perMonth);
        columns.put("burst", burst);
        columns.put("zone", zone);
    }

    /** Reads the quota; {@link InvalidLimitException} if no limits can be made of it. */
    public Quota quota() {
        Quota quota = new Quota(perSecond, perHour, perDay, perMonth, burst, zone == null ? null : zone(zone));
        List<Limit> unused = quota.limits(ZoneId.of("UTC"));
        return quota;
    }

    Quota quotaOr(Quota otherwise) {
        try {
            return quota();
        } catch (InvalidLimitException e) {
            return otherwise;
        }
    }

    boolean isEmpty() {
        return equals(NONE);
    }

    private static ZoneId zone(String written) {
        try {
            return ZoneId.of(written.strip());
        } catch (DateTimeException e) {
            throw new InvalidLimitException(Quota.LIMIT, "zone", written, "write a zone such as Europe/Berlin or UTC");
        }
    }
}
