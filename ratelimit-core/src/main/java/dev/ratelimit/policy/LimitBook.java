package dev.ratelimit.policy;

import dev.ratelimit.Limit;
import dev.ratelimit.Limits;
import dev.ratelimit.algorithm.Algorithms;
import dev.ratelimit.caller.Quota;
import dev.ratelimit.setting.InvalidLimitException;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import org.jspecify.annotations.Nullable;

/**
 * All limits, made from their definitions. Immutable.
 *
 * <p>A definition holds the properties of {@link Algorithms#limit}, and these:
 *
 * <ul>
 *   <li>{@code base}: the name of a limit to inherit properties from
 *   <li>{@code enabled}: {@code false} for a limit that is switched off
 *   <li>{@code tiers.NAME.PROPERTY}: overrides for callers of a tier
 *   <li>{@code candidate.PROPERTY} and {@code tiers.NAME.candidate.PROPERTY}: overrides on trial, beside the live numbers
 * </ul>
 *
 * The name {@link #ALL} stands for all limits. Its only property is {@code enabled}.
 */
public final class LimitBook implements Limits {

    /** Stands for all limits. */
    public static final String ALL = "*";

    /** The property that switches a limit off and on. */
    public static final String ENABLED = "enabled";

    static final String ALGORITHM = "algorithm";
    static final String BASE = "base";

    private static final String OF_TIERS = "tiers.";
    private static final String OF_CANDIDATE = "candidate.";

    private final Map<String, Limit> byName = new LinkedHashMap<>();
    private final Map<String, Map<String, Limit>> byTier = new HashMap<>();
    private final Set<String> off = new HashSet<>();

    private LimitBook() {}

    /** Makes limits of definitions by name; {@link InvalidLimitException} names the first invalid one. */
    public static LimitBook of(Map<String, Map<String, String>> definitions) {
        LimitBook book = new LimitBook();
        for (String name : definitions.keySet()) {
            book.switchOff(name, definitions.getOrDefault(name, Map.of()));
            if (!name.equals(ALL)) {
                book.add(name, inherited(name, definitions, new LinkedHashSet<>()));
            }
        }
        return book;
    }

    /** The tier that a property of a definition is for; {@code null} if it is for all callers. */
    public static @Nullable String tierOf(String property) {
        int end = property.startsWith(OF_TIERS) ? property.indexOf('.', OF_TIERS.length()) : -1;
        return end < 0 ? null : property.substring(OF_TIERS.length(), end);
    }

    private void switchOff(String name, Map<String, String> definition) {
        String enabled = definition.get(ENABLED);
        if (enabled != null && !enabled.equals("true") && !enabled.equals("false")) {
            throw new InvalidLimitException(name, ENABLED, enabled, "write true or false");
        }
        if (name.equals(ALL) && !definition.keySet().equals(Set.of(ENABLED))) {
            throw new InvalidLimitException(
                    name,
                    InvalidLimitException.NAME,
                    name,
                    "write nothing but enabled: this name stands for all limits");
        }
        if ("false".equals(enabled)) {
            off.add(name);
        }
    }

    /** The properties of a limit, over those of its base. */
    private static Map<String, String> inherited(
            String name, Map<String, Map<String, String>> definitions, Set<String> descendants) {
        Map<String, String> own = new LinkedHashMap<>(definitions.getOrDefault(name, Map.of()));
        own.remove(ENABLED); // each limit has its own switch
        String base = own.remove(BASE);
        if (base == null) {
            return own;
        }
        descendants.add(name);
        if (descendants.contains(base)) {
            throw new InvalidLimitException(
                    name,
                    BASE,
                    base,
                    "name a limit that is not based on this one (" + String.join(" -> ", descendants) + " -> " + base
                            + ")");
        }
        if (!definitions.containsKey(base)) {
            Set<String> others = new TreeSet<>(definitions.keySet());
            others.removeAll(descendants);
            others.remove(ALL);
            throw new InvalidLimitException(
                    name,
                    BASE,
                    base,
                    others.isEmpty()
                            ? "define a limit of that name, or leave it out"
                            : "name one of " + String.join(", ", others));
        }
        Map<String, String> properties = new LinkedHashMap<>(inherited(base, definitions, descendants));
        properties.putAll(own);
        return properties;
    }

    private void add(String name, Map<String, String> properties) {
        if (name.equals(Quota.LIMIT)) {
            throw new InvalidLimitException(
                    name, InvalidLimitException.NAME, name, "choose another name: this one is the caller's quota");
        }
        if (Quota.isPart(name) || TrialNames.isTrial(name)) {
            throw new InvalidLimitException(
                    name,
                    InvalidLimitException.NAME,
                    name,
                    "choose another name: this one stands for something of the limiter's");
        }
        Map<String, String> live = new LinkedHashMap<>();
        Map<String, String> trial = new LinkedHashMap<>();
        Map<String, Map<String, String>> tiers = new TreeMap<>();
        properties.forEach((property, value) -> {
            if (property.startsWith(OF_CANDIDATE)) {
                trial.put(property.substring(OF_CANDIDATE.length()), value);
            } else if (property.startsWith(OF_TIERS)) {
                int end = property.indexOf('.', OF_TIERS.length());
                if (end < 0) {
                    throw new InvalidLimitException(
                            name, property, value, "write tiers.NAME.PROPERTY, such as tiers.premium.max-requests");
                }
                tiers.computeIfAbsent(property.substring(OF_TIERS.length(), end), tier -> new LinkedHashMap<>())
                        .put(property.substring(end + 1), value);
            } else {
                live.put(property, value);
            }
        });
        Limit ofAll = limit(name, "", live, trial);
        byName.put(name, ofAll);
        List<Limit> trials = new ArrayList<>();
        if (ofAll.trial() != null) {
            trials.add(ofAll.trial());
        }
        tiers.forEach((tier, different) -> {
            Map<String, String> liveOfTier = new LinkedHashMap<>(live);
            Map<String, String> trialOfTier = new LinkedHashMap<>();
            different.forEach((property, value) -> {
                if (property.startsWith(OF_CANDIDATE)) {
                    trialOfTier.put(property.substring(OF_CANDIDATE.length()), value);
                } else {
                    liveOfTier.put(property, value);
                }
            });
            String where = OF_TIERS + tier;
            Limit ofTier = limit(name, where + ".", liveOfTier, trialOfTier);
            requireOneCount(
                    name, where, ofAll, ofTier, "; or write a limit of another name, and a rule with tiers for it");
            byTier.computeIfAbsent(name, limit -> new HashMap<>()).put(tier, ofTier);
            Limit onTrial = ofTier.trial();
            if (onTrial != null) {
                requireOneCount(name, where + ".candidate", trials.isEmpty() ? onTrial : trials.get(0), onTrial, "");
                trials.add(onTrial);
            }
        });
    }

    /**
     * Callers of several tiers may share a subject: an address, or a user with and without an API key. If they did not
     * count in one way, each would begin the count of the others anew, and nobody would ever be denied.
     */
    private static void requireOneCount(String name, String where, Limit first, Limit other, String orElse) {
        String counting = first.algorithm().counting();
        if (!other.algorithm().counting().equals(counting)) {
            throw new InvalidLimitException(
                    name,
                    where,
                    other.algorithm().counting(),
                    "let algorithm, window and zone come to " + counting
                            + ", since all tiers of a limit share one count" + orElse);
        }
    }

    private static Limit limit(String name, String where, Map<String, String> live, Map<String, String> trial) {
        Limit limit = made(name, name, where, live);
        if (trial.isEmpty()) {
            return limit;
        }
        Map<String, String> whole = new LinkedHashMap<>(live);
        whole.putAll(trial);
        return limit.withTrial(made(name, TrialNames.candidateOf(name), where + OF_CANDIDATE, whole));
    }

    /** Makes a limit; the exception of a mistake names the part and the limit. */
    private static Limit made(String limit, String name, String where, Map<String, String> properties) {
        try {
            return Algorithms.limit(name, properties);
        } catch (InvalidLimitException e) {
            throw where.isEmpty() ? e : e.in(limit, where);
        }
    }

    @Override
    public @Nullable Limit find(String name) {
        return byName.get(name);
    }

    @Override
    public @Nullable Limit find(String name, String tier) {
        Map<String, Limit> tiers = byTier.get(name);
        Limit ofTier = tiers == null ? null : tiers.get(tier);
        return ofTier == null ? byName.get(name) : ofTier;
    }

    @Override
    public boolean variesByTier(String name) {
        return byTier.containsKey(name);
    }

    /** The tiers for whose callers a limit is different. */
    public Set<String> tiers() {
        Set<String> tiers = new TreeSet<>();
        byTier.values().forEach(ofLimit -> tiers.addAll(ofLimit.keySet()));
        return tiers;
    }

    @Override
    public boolean isCurrent(Limit limit) {
        Limit named = byName.get(limit.name());
        return named == null
                || named.equals(limit)
                || byTier.getOrDefault(limit.name(), Map.of()).containsValue(limit);
    }

    @Override
    public boolean isOff(String name) {
        return !off.isEmpty() && (off.contains(name) || off.contains(ALL));
    }

    @Override
    public boolean isOff() {
        return off.contains(ALL);
    }

    /** The names that are switched off; {@link #ALL} among them if all limits are. */
    public Set<String> off() {
        return Set.copyOf(off);
    }

    @Override
    public Set<String> names() {
        return byName.keySet();
    }
}
