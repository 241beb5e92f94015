package dev.ratelimit.policy;

import dev.ratelimit.Limit;
import java.time.ZoneId;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import java.util.concurrent.ConcurrentHashMap;
import org.jspecify.annotations.Nullable;

/**
 * Says of which tier a caller is, and what its quota is: by its API key, else by its account, else by its authorities,
 * else the default. Safe for use by many threads.
 */
public final class Tiers {

    /** One tier for everybody, and no quota. */
    public static final Tiers NONE = new Tiers("default", Map.of(), Map.of(), ZoneId.of("UTC"));

    private final String defaultTier;
    private final Map<String, String> byAuthority;
    private final Map<String, Quota> quotas;
    private final ZoneId zone;

    /** There are far fewer different quotas than callers. */
    private final Map<Quota, List<Limit>> limits = new ConcurrentHashMap<>();

    /**
     * @param byAuthority the tier that an authority stands for; the first that a caller has counts
     * @param quotas what callers of a tier may use
     * @param zone where days and months begin, unless a quota says otherwise
     */
    public Tiers(String defaultTier, Map<String, String> byAuthority, Map<String, Quota> quotas, ZoneId zone) {
        this.defaultTier = defaultTier;
        this.byAuthority = new LinkedHashMap<>(byAuthority);
        this.quotas = Map.copyOf(quotas);
        this.zone = zone;
    }

    /**
     * Puts together what is known of a caller.
     *
     * @param principal who is logged in, or {@code null}
     */
    public Caller caller(
            @Nullable String principal, Set<String> authorities, @Nullable ApiKey apiKey, Accounts accounts) {
        String user = principal != null ? principal : apiKey != null ? apiKey.owner() : null;
        Account account = user == null ? null : accounts.find(user);
        String tier = tier(apiKey, account, authorities);
        boolean ofApiKey = apiKey != null && !apiKey.quota().isNone();
        Quota quota = quota(tier, ofApiKey ? null : account, ofApiKey ? apiKey : null);
        return new Caller(
                user, tier, authorities, limits.computeIfAbsent(quota, one -> one.limits(zone)), ofApiKey, account);
    }

    private String tier(@Nullable ApiKey apiKey, @Nullable Account account, Set<String> authorities) {
        if (apiKey != null && apiKey.tier() != null) {
            return apiKey.tier();
        }
        if (account != null && account.tier() != null) {
            return account.tier();
        }
        for (Map.Entry<String, String> entry : byAuthority.entrySet()) {
            if (authorities.contains(entry.getKey())) {
                return entry.getValue();
            }
        }
        return defaultTier;
    }

    /** Where the tier of a caller comes from, for people. */
    public String originOfTier(@Nullable ApiKey apiKey, @Nullable Account account, Set<String> authorities) {
        if (apiKey != null && apiKey.tier() != null) {
            return "the API key " + apiKey.name();
        }
        if (account != null && account.tier() != null) {
            return "the quota of the user " + account.user();
        }
        for (String authority : byAuthority.keySet()) {
            if (authorities.contains(authority)) {
                return "the authority " + authority;
            }
        }
        return "the default";
    }

    private Quota quota(String tier, @Nullable Account account, @Nullable ApiKey apiKey) {
        Quota ofTier = quotas.getOrDefault(tier, Quota.NONE);
        Quota own = apiKey != null ? apiKey.quota() : account != null ? account.quota() : Quota.NONE;
        return own.orElse(ofTier);
    }

    /** The tiers that are spoken of here. */
    public Set<String> names() {
        Set<String> names = new TreeSet<>(quotas.keySet());
        names.addAll(byAuthority.values());
        names.add(defaultTier);
        return names;
    }

    /** What callers of the tier may use. */
    public Quota quotaOf(String tier) {
        return quotas.getOrDefault(tier, Quota.NONE);
    }

    public ZoneId zone() {
        return zone;
    }
}
