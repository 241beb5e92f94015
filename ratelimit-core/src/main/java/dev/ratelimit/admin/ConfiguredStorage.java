package dev.ratelimit.admin;

import dev.ratelimit.Subject;
import dev.ratelimit.admin.version.EffectivePolicy;
import dev.ratelimit.admin.version.Problem;
import dev.ratelimit.admin.version.Version;
import dev.ratelimit.caller.Accounts;
import dev.ratelimit.caller.ApiKey;
import dev.ratelimit.policy.PolicyConfiguration;
import dev.ratelimit.policy.Rule;
import java.time.InstantSource;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/**
 * Shows the configuration, and refuses changes: nothing is stored. Counts are in the store, so they can be reset; they cannot be
 * listed.
 */
final class ConfiguredStorage implements PolicyStorage {

    private final EffectivePolicy effective;
    private final InstantSource clock;
    private final String reason;
    private final boolean isOff;

    /**
     * @param reason why nothing can be changed, and what to do about it
     * @param isOff whether rate limiting is off, so that nobody is counted
     */
    ConfiguredStorage(PolicyConfiguration configuration, InstantSource clock, String reason, boolean isOff) {
        this.effective = EffectivePolicy.of(configuration, EffectivePolicy.Versions.NONE, clock.instant());
        this.clock = clock;
        this.reason = reason;
        this.isOff = isOff;
    }

    @Override
    public EffectivePolicy effective() {
        return effective;
    }

    @Override
    public Accounts accounts() {
        return Accounts.NONE;
    }

    @Override
    public @Nullable ApiKey findKey(String id) {
        return null;
    }

    @Override
    public List<Problem> problems() {
        return effective.problems();
    }

    @Override
    public InstantSource clock() {
        return clock;
    }

    @Override
    public List<Version<Map<String, String>>> limitHistory(String name) {
        return List.of();
    }

    @Override
    public List<Version<Rule>> ruleHistory(String name) {
        return List.of();
    }

    @Override
    public List<QuotaAdmin.UserQuota> userQuotas() {
        return List.of();
    }

    @Override
    public Optional<QuotaAdmin.UserQuota> userQuota(String user) {
        return Optional.empty();
    }

    @Override
    public List<ApiKeyInfo> keyInfos() {
        return List.of();
    }

    @Override
    public List<ApiKeyInfo> keyInfos(String owner) {
        return List.of();
    }

    @Override
    public Optional<ApiKeyInfo> keyInfo(String id) {
        return Optional.empty();
    }

    @Override
    public boolean listsCounts() {
        return isOff; // there are none
    }

    @Override
    public List<PenaltyAdmin.Penalty> penalties(int most) {
        requireListed();
        return List.of();
    }

    @Override
    public List<String> subjects(String prefix, int most) {
        requireListed();
        return List.of();
    }

    private void requireListed() {
        if (!listsCounts()) {
            throw new IllegalStateException(SubjectAdmin.NOT_LISTED);
        }
    }

    @Override
    public List<SubjectAdmin.StoredState> states(Subject subject, int most) {
        return List.of();
    }

    @Override
    public List<ChangeLog.LoggedChange> changes(ChangeLog.Query query) {
        return List.of();
    }

    @Override
    public Map<String, Long> activePenalties() {
        return Map.of();
    }

    @Override
    public boolean logsResets() {
        if (isOff) {
            throw unchangeable();
        }
        return false;
    }

    @Override
    public <T> T change(Function<Transaction, T> work) {
        throw unchangeable();
    }

    private IllegalStateException unchangeable() {
        return new IllegalStateException("nothing can be changed: " + reason);
    }
}
