package dev.ratelimit.operate;

import java.time.Instant;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * Where a subject stands.
 *
 * @param subject its text, such as {@code user:alice}
 * @param user the user that it stands for, or {@code null}
 * @param tier without authorities, which only a request has
 * @param tierFrom where the tier comes from
 * @param block the block of the user, or of the addresses or a range around them; {@code null} if there is none
 * @param limits every limit that counts it, its quota included
 * @param apiKeys the API keys of the user; for an API key, itself
 */
public record SubjectView(
        String subject,
        @Nullable String user,
        String tier,
        String tierFrom,
        @Nullable BlockView block,
        List<Standing> limits,
        List<ApiKeyView> apiKeys) {

    /**
     * A subject on a limit.
     *
     * @param subject the subject itself, or one of several parts that begins with it
     * @param trial whether the count is of a trial, which denies nobody
     * @param outcome how a request would come out now: {@code allowed}, {@code throttled}, {@code blocked}, or
     *     {@code unknown} if no such limit is in force or the store is unavailable
     * @param count {@code null} if it is unknown
     * @param penalty {@code null} if no violation is remembered, or the store cannot list them
     * @param lastRequestAt {@code null} if nothing is counted, or the store cannot list it
     */
    public record Standing(
            String limit,
            String subject,
            boolean trial,
            String outcome,
            @Nullable Count count,
            @Nullable Penalty penalty,
            @Nullable Instant lastRequestAt) {}

    /**
     * How much of a limit is used.
     *
     * @param used {@code null} during a penalty, which hides it
     * @param capacity {@code null} if it is not restricted
     * @param remaining {@code null} if it is not restricted
     * @param resetAt when the limit is whole again
     * @param retryAfter how long a denied client has to wait, such as {@code 12s}; {@code null} if it need not
     */
    public record Count(
            @Nullable Long used,
            @Nullable Long capacity,
            @Nullable Long remaining,
            Instant resetAt,
            @Nullable String retryAfter) {}

    /**
     * The violations of a subject, and its penalty.
     *
     * @param active whether requests are denied because of it
     * @param until its end, past or not; {@code null} if there was none, or it has no end
     * @param left how long it still lasts, such as {@code 12m}; {@code forever} if it has no end; {@code null} if it is over
     */
    public record Penalty(
            long violations,
            @Nullable Instant lastViolationAt,
            boolean active,
            @Nullable Instant until,
            @Nullable String left) {}
}
