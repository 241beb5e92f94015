package dev.ratelimit.audit.report;

import java.time.Instant;
import org.jspecify.annotations.Nullable;

/**
 * Chooses rows of the audit trail. A null component does not filter.
 *
 * @param user the name of a user
 * @param address the address of a client, or a range such as {@code 203.0.113.0/24}
 * @param subject the text of a subject; subjects of several parts that begin with it are included
 * @param limit the name of a limit
 * @param most at most so many rows
 */
public record AuditQuery(
        Instant since,
        @Nullable String user,
        @Nullable String address,
        @Nullable String subject,
        @Nullable String limit,
        @Nullable AuditDecision decision,
        int most) {

    private static final int MOST = 1_000;

    public AuditQuery {
        if (most < 1 || most > MOST) {
            throw new IllegalArgumentException("most is " + most + "; write a number from 1 to " + MOST);
        }
    }

    /** The newest rows since then. */
    public static AuditQuery since(Instant moment, int most) {
        return new AuditQuery(moment, null, null, null, null, null, most);
    }

    public AuditQuery ofUser(String name) {
        return new AuditQuery(since, name, address, subject, limit, decision, most);
    }

    public AuditQuery ofAddress(String client) {
        return new AuditQuery(since, user, client, subject, limit, decision, most);
    }

    public AuditQuery ofSubject(String text) {
        return new AuditQuery(since, user, address, text, limit, decision, most);
    }

    public AuditQuery ofLimit(String name) {
        return new AuditQuery(since, user, address, subject, name, decision, most);
    }

    public AuditQuery decided(AuditDecision how) {
        return new AuditQuery(since, user, address, subject, limit, how, most);
    }
}
