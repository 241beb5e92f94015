package dev.ratelimit.archive.guide;

// region read
import dev.ratelimit.archive.ParquetArchive;
import dev.ratelimit.audit.retention.AuditRow;
import dev.ratelimit.audit.retention.AuditRows;
import java.nio.file.Path;
import java.time.YearMonth;

public class ArchivedRequests {

    public static long of(String user, YearMonth month, Path archives) {
        long requests = 0;
        try (AuditRows rows = ParquetArchive.at(archives).read(month)) {
            while (rows.hasNext()) {
                AuditRow row = rows.next();
                if (user.equals(row.userId())) {
                    requests += row.requests();
                }
            }
        }
        return requests;
    }
}
// endregion
