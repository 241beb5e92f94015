package dev.ratelimit.startup;

import dev.ratelimit.caller.Quota;
import dev.ratelimit.policy.InvalidRuleException;
import dev.ratelimit.policy.LimitBook;
import dev.ratelimit.policy.PolicyConfiguration;
import dev.ratelimit.policy.Rule;
import dev.ratelimit.setting.InvalidLimitException;
import java.util.Map;
import java.util.Set;

/**
 * Refuses settings that can have no effect. Only the configuration counts: if the rows of a database decided, an
 * application might not start again after the last user of a tier has left.
 */
public final class SettingsWithoutEffect {

    private SettingsWithoutEffect() {}

    public static void refuse(PolicyConfiguration configuration) {
        Set<String> tiers = configuration.tiers().names();
        configuration.limits().forEach((limit, definition) -> requireTiers(limit, definition, tiers));
        for (Rule rule : configuration.rules()) {
            for (String tier : rule.conditions().tiers()) {
                if (!tiers.contains(tier)) {
                    throw new InvalidRuleException(rule.name(), "tiers", tier, advice(tier, tiers));
                }
            }
            if (rule.limits().contains(Quota.LIMIT) && !configuration.tiers().haveQuotas()) {
                throw new InvalidRuleException(
                        rule.name(),
                        "limits",
                        Quota.LIMIT,
                        "write a quota, such as ratelimit.tiers.quotas.free.per-day: 10000; if only users and API keys"
                                + " in the database have quotas, write ratelimit.tiers.quotas.free.zone: UTC");
            }
        }
    }

    private static void requireTiers(String limit, Map<String, String> definition, Set<String> tiers) {
        definition.forEach((property, value) -> {
            String tier = LimitBook.tierOf(property);
            if (tier != null && !tiers.contains(tier)) {
                throw new InvalidLimitException(limit, property, value, advice(tier, tiers));
            }
        });
    }

    private static String advice(String tier, Set<String> tiers) {
        return "name one of the tiers that callers can have (" + String.join(", ", tiers) + "), or give the tier '"
                + tier
                + "' an authority under ratelimit.tiers.authorities or a quota under ratelimit.tiers.quotas; if users"
                + " and API keys have it only in the database, add it to ratelimit.tiers.names";
    }
}
