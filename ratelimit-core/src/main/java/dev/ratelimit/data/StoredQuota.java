package dev.ratelimit.data;

import dev.ratelimit.InvalidLimitException;
import dev.ratelimit.Limit;
import dev.ratelimit.policy.Quota;
import java.time.DateTimeException;
import java.time.ZoneId;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** The numbers of a quota as they stand in a row. */
public final class StoredQuota {

    private StoredQuota() {}

    /** {@link InvalidLimitException} if they cannot be right. */
    public static Quota read(QuotaRow row) {
        return quota(row.perSecond(), row.perHour(), row.perDay(), row.perMonth(), row.burst(), row.zone());
    }

    /** {@link InvalidLimitException} if they cannot be right. */
    public static Quota read(KeyRow row) {
        return quota(row.perSecond(), row.perHour(), row.perDay(), row.perMonth(), row.burst(), row.zone());
    }

    public static Quota readOr(QuotaRow row, Quota otherwise) {
        try {
            return read(row);
        } catch (InvalidLimitException e) {
            return otherwise;
        }
    }

    public static Quota readOr(KeyRow row, Quota otherwise) {
        try {
            return read(row);
        } catch (InvalidLimitException e) {
            return otherwise;
        }
    }

    public static boolean isEmpty(QuotaRow row) {
        return row.perSecond() == null
                && row.perHour() == null
                && row.perDay() == null
                && row.perMonth() == null
                && row.burst() == null
                && row.zone() == null;
    }

    private static Quota quota(
            @Nullable Long perSecond,
            @Nullable Long perHour,
            @Nullable Long perDay,
            @Nullable Long perMonth,
            @Nullable Long burst,
            @Nullable String zone) {
        return require(new Quota(perSecond, perHour, perDay, perMonth, burst, zone == null ? null : zone(zone)));
    }

    /** The quota, if limits can be made of it; {@link InvalidLimitException} if not. */
    public static Quota require(Quota quota) {
        List<Limit> unused = quota.limits(ZoneId.of("UTC"));
        return quota;
    }

    private static ZoneId zone(String written) {
        try {
            return ZoneId.of(written.strip());
        } catch (DateTimeException e) {
            throw new InvalidLimitException(Quota.LIMIT, "zone", written, "write a zone such as Europe/Berlin or UTC");
        }
    }

    public static @Nullable String text(@Nullable ZoneId zone) {
        return zone == null ? null : zone.getId();
    }
}
