package dev.ratelimit.data;

import java.util.List;
import org.jspecify.annotations.Nullable;
import org.springframework.data.annotation.Id;
import org.springframework.data.relational.core.mapping.Embedded;
import org.springframework.data.relational.core.mapping.Embedded.OnEmpty;
import org.springframework.data.relational.core.mapping.Table;
import org.springframework.data.repository.Repository;

/**
 * A version of a rule. Lists are separated by commas. See {@link StoredRule}.
 *
 * @param removed whether the configuration applies again
 */
@Table("rate_limit_rules")
record RuleRow(
        @Id @Nullable Long id,
        String ruleName,
        int version,
        boolean removed,
        boolean enabled,
        @Embedded(onEmpty = OnEmpty.USE_EMPTY) Matching matching,
        @Embedded(onEmpty = OnEmpty.USE_EMPTY) Effect effect,
        @Embedded(onEmpty = OnEmpty.USE_EMPTY) VersionColumns stored) {

    /** The requests that the rule applies to. A column without value restricts nothing. */
    record Matching(
            @Nullable String userTier,
            @Nullable String endpointPattern,
            @Nullable String httpMethod,
            @Nullable String ipRange,
            @Nullable String authority,
            @Nullable String apiKey) {

        static final Matching ALL = new Matching(null, null, null, null, null, null);
    }

    /** The action of the rule, and the details of a denial. */
    record Effect(
            int priority,
            @Nullable String limits,
            @Nullable String subjectKey,
            String action,
            @Nullable Integer responseStatus,
            @Nullable String responseMessage,
            @Nullable Long retryAfterSeconds,
            @Nullable String onFailure) {}

    interface Rows extends Repository<RuleRow, Long> {

        List<RuleRow> findAllByOrderByRuleNameAscVersionDesc();

        List<RuleRow> findByRuleNameOrderByVersionDesc(String ruleName);

        RuleRow save(RuleRow version);
    }
}
