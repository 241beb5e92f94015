package dev.ratelimit.operate;

import dev.ratelimit.admin.Explanation;
import dev.ratelimit.admin.Inquiry;
import java.time.Instant;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * The expected outcome of a request, and the reasons.
 *
 * @param request the request as it was understood
 * @param outcome how it would come out now, such as {@code allowed} or {@code throttled}
 * @param exempt whether no rule applies; {@code rules} then show the result without the exemption
 * @param rules every rule in force, in the order of evaluation
 * @param notes remarks on parts of the request that were ignored
 */
public record ExplanationView(
        Request request, String outcome, Sender sender, boolean exempt, List<Rule> rules, List<String> notes) {

    /** The request that is asked about. */
    public record Request(
            String method,
            String path,
            @Nullable String address,
            @Nullable String user,
            @Nullable String apiKey) {}

    /**
     * The sender of the request.
     *
     * @param tierFrom where the tier comes from
     * @param apiKey the name of its API key, or a note that the key is invalid; {@code null} if there is none
     * @param blockedUntil until when the user is blocked, or {@code null}
     */
    public record Sender(
            @Nullable String user,
            String tier,
            String tierFrom,
            @Nullable String apiKey,
            @Nullable Instant blockedUntil) {}

    /**
     * The part of one rule.
     *
     * @param why why it applies or not
     * @param limits the answers of its limits, if it applies and has any
     */
    public record Rule(String name, String action, boolean applies, String why, List<Limit> limits) {}

    /**
     * The answer of one limit.
     *
     * @param subject {@code null} if only a live request could tell
     * @param count {@code null} if it cannot be known
     * @param note why it cannot be known, or {@code null}
     */
    public record Limit(
            String limit,
            @Nullable String subject,
            String outcome,
            SubjectView.@Nullable Count count,
            @Nullable Instant penaltyUntil,
            @Nullable String note) {}

    static ExplanationView of(Inquiry inquiry, Explanation found, List<String> notes) {
        return new ExplanationView(
                new Request(inquiry.method(), inquiry.path(), inquiry.address(), inquiry.user(), inquiry.apiKey()),
                found.outcome().keyword(),
                new Sender(found.user(), found.tier(), found.tierFrom(), found.apiKey(), found.blockedUntil()),
                found.exempt(),
                found.rules().stream()
                        .map(rule -> new Rule(
                                rule.rule().name(),
                                rule.rule().action().keyword(),
                                rule.applies(),
                                rule.why(),
                                rule.limits().stream()
                                        .map(ExplanationView::limit)
                                        .toList()))
                        .toList(),
                List.copyOf(notes));
    }

    private static Limit limit(Explanation.OfLimit answer) {
        var decision = answer.decision();
        return new Limit(
                answer.limit(),
                answer.subject(),
                decision == null ? SubjectViews.UNKNOWN : decision.outcome().keyword(),
                decision == null ? null : SubjectViews.count(decision),
                decision == null ? null : decision.penaltyUntil(),
                answer.note());
    }
}
