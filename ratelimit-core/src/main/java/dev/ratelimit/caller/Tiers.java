package dev.ratelimit.caller;

import dev.ratelimit.Limit;
import dev.ratelimit.caller.TierChoice.Source;
import java.time.ZoneId;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import java.util.concurrent.ConcurrentHashMap;
import org.jspecify.annotations.Nullable;

/**
 * Finds the tier and the quota of a caller: by its API key, else by its account, else by its authorities,
 * else the default. Safe for use by many threads.
 */
public final class Tiers {

    /** One tier for everybody, and no quota. */
    public static final Tiers NONE = new Tiers("default", Map.of(), Map.of(), ZoneId.of("UTC"));

    private final String defaultTier;
    private final Map<String, String> byAuthority;
    private final Map<String, Quota> quotas;
    private final Set<String> others;
    private final ZoneId zone;

    /** There are far fewer different quotas than callers. */
    private final Map<Quota, List<Limit>> limits = new ConcurrentHashMap<>();

    /**
     * @param byAuthority the tier that an authority stands for; the first that a caller has counts
     * @param quotas the quota of callers, by tier
     * @param zone where days and months begin, unless a quota sets its own zone
     */
    public Tiers(String defaultTier, Map<String, String> byAuthority, Map<String, Quota> quotas, ZoneId zone) {
        this(defaultTier, byAuthority, quotas, Set.of(), zone);
    }

    /**
     * @param others tiers that only accounts and API keys have
     * @see #Tiers(String, Map, Map, ZoneId)
     */
    public Tiers(
            String defaultTier,
            Map<String, String> byAuthority,
            Map<String, Quota> quotas,
            Set<String> others,
            ZoneId zone) {
        this.defaultTier = defaultTier;
        this.byAuthority = new LinkedHashMap<>(byAuthority);
        this.quotas = Map.copyOf(quotas);
        this.others = Set.copyOf(others);
        this.zone = zone;
    }

    /**
     * Collects the facts about a caller.
     *
     * @param principal the name of the user, or {@code null} for nobody
     */
    public Caller caller(
            @Nullable String principal, Set<String> authorities, @Nullable ApiKey apiKey, Accounts accounts) {
        String user = principal != null ? principal : apiKey != null ? apiKey.owner() : null;
        Account account = user == null ? null : accounts.find(user);
        TierChoice choice = choice(apiKey, account, authorities);
        Quota ofTier = quotaOf(choice.tier());
        Quota own = apiKey != null && !apiKey.quota().isNone()
                ? apiKey.quota()
                : account != null ? account.quota() : Quota.NONE;
        return new Caller(
                user,
                choice,
                authorities,
                limits.computeIfAbsent(own.orElse(ofTier), one -> one.limits(zone)),
                apiKey,
                account);
    }

    private TierChoice choice(@Nullable ApiKey apiKey, @Nullable Account account, Set<String> authorities) {
        if (apiKey != null && apiKey.tier() != null) {
            return new TierChoice(apiKey.tier(), Source.API_KEY, apiKey.name());
        }
        if (account != null && account.tier() != null) {
            return new TierChoice(account.tier(), Source.ACCOUNT, account.user());
        }
        for (Map.Entry<String, String> entry : byAuthority.entrySet()) {
            if (authorities.contains(entry.getKey())) {
                return new TierChoice(entry.getValue(), Source.AUTHORITY, entry.getKey());
            }
        }
        return TierChoice.byDefault(defaultTier);
    }

    /** The tiers that callers can have. */
    public Set<String> names() {
        Set<String> names = new TreeSet<>(quotas.keySet());
        names.addAll(others);
        names.addAll(byAuthority.values());
        names.add(defaultTier);
        return names;
    }

    /** Whether a tier has a quota. Accounts and API keys may have one nonetheless. */
    public boolean haveQuotas() {
        return !quotas.isEmpty();
    }

    /** The quota of callers of the tier. */
    public Quota quotaOf(String tier) {
        return quotas.getOrDefault(tier, Quota.NONE);
    }
}
