package dev.ratelimit.operate;

import dev.ratelimit.Limit;
import dev.ratelimit.LimitDecision;
import dev.ratelimit.Subject;
import dev.ratelimit.admin.RateLimitAdmin;
import dev.ratelimit.admin.SubjectAdmin;
import dev.ratelimit.caller.ApiKey;
import dev.ratelimit.caller.Caller;
import dev.ratelimit.policy.AddressRange;
import java.time.Instant;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** Describes where subjects stand. Consumes nothing. */
final class SubjectViews {

    static final String UNKNOWN = "unknown";

    private final RateLimitAdmin admin;
    private final BlockViews blocks;

    SubjectViews(RateLimitAdmin admin, BlockViews blocks) {
        this.admin = admin;
        this.blocks = blocks;
    }

    SubjectView subject(Subject subject) {
        Instant now = admin.clock().instant();
        Caller caller = admin.subjects().caller(subject);
        return new SubjectView(
                subject.text(),
                caller.user(),
                caller.tier(),
                caller.choice().origin(),
                block(subject, caller, now),
                admin.subjects().standings(subject, caller).stream()
                        .map(standing -> standing(standing, now))
                        .toList(),
                keys(caller, now));
    }

    private @Nullable BlockView block(Subject subject, Caller caller, Instant now) {
        AddressRange addresses = addresses(subject);
        return addresses == null ? blocks.ofUser(caller.account(), now) : blocks.ofAddresses(addresses, now);
    }

    /** The addresses that a subject stands for, or {@code null}. */
    private static @Nullable AddressRange addresses(Subject subject) {
        return subject.isOf(Subject.IP) && subject.text().indexOf('+') < 0
                ? AddressRange.around(subject.text().substring(Subject.IP.length() + 1))
                : null;
    }

    private List<ApiKeyView> keys(Caller caller, Instant now) {
        ApiKey only = caller.apiKey();
        String user = caller.user();
        if (only != null) {
            return admin.keys().find(only.id()).stream()
                    .map(key -> ApiKeyView.of(key, now))
                    .toList();
        }
        return user == null
                ? List.of()
                : admin.keys().list(user).stream()
                        .limit(SubjectAdmin.MOST)
                        .map(key -> ApiKeyView.of(key, now))
                        .toList();
    }

    private static SubjectView.Standing standing(SubjectAdmin.Standing standing, Instant now) {
        LimitDecision decision = standing.decision();
        SubjectAdmin.StoredState stored = standing.stored();
        return new SubjectView.Standing(
                standing.limit(),
                standing.subject().text(),
                standing.trial(),
                decision == null ? UNKNOWN : decision.outcome().keyword(),
                decision == null ? null : count(decision),
                stored == null || stored.violations() == 0 ? null : penalty(stored, now),
                stored == null ? null : stored.lastRequestAt());
    }

    private static SubjectView.Penalty penalty(SubjectAdmin.StoredState stored, Instant now) {
        Instant until = stored.penaltyUntil();
        boolean active = until != null && until.isAfter(now);
        return new SubjectView.Penalty(
                stored.violations(),
                stored.lastViolationAt(),
                active,
                until == null ? null : Times.endOrNull(now, until),
                until == null || !active ? null : Times.left(now, until));
    }

    static SubjectView.Count count(LimitDecision decision) {
        long capacity = decision.limit().capacity();
        boolean restricted = capacity < Limit.UNRESTRICTED;
        return new SubjectView.Count(
                decision.penaltyUntil() == null ? capacity - decision.remaining() : null,
                restricted ? capacity : null,
                restricted ? decision.remaining() : null,
                decision.resetAt(),
                decision.allowed() ? null : Times.spoken(decision.retryAfter()));
    }
}
