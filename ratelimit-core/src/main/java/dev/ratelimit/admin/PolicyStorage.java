package dev.ratelimit.admin;

import dev.ratelimit.Subject;
import dev.ratelimit.admin.version.Change;
import dev.ratelimit.admin.version.EffectivePolicy;
import dev.ratelimit.admin.version.Problem;
import dev.ratelimit.admin.version.Version;
import dev.ratelimit.caller.Accounts;
import dev.ratelimit.caller.ApiKey;
import dev.ratelimit.caller.Quota;
import dev.ratelimit.policy.Policies;
import dev.ratelimit.policy.Policy;
import dev.ratelimit.policy.PolicyConfiguration;
import dev.ratelimit.policy.Rule;
import java.time.Instant;
import java.time.InstantSource;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.function.Consumer;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/**
 * Keeps limits, rules, quotas, API keys and penalties for {@link RateLimitAdmin}. Several instances may share one
 * storage. Implementations are safe for use by many threads.
 *
 * <p>A call that reads or changes the storage may fail with an unchecked exception of the implementation. A change that
 * fails is rolled back.
 */
public interface PolicyStorage extends Policies {

    /**
     * The storage of policies that are configured and not stored: it shows them, and refuses changes.
     *
     * @param reason why nothing can be changed, and the remedy
     */
    static PolicyStorage configured(PolicyConfiguration configuration, InstantSource clock, String reason) {
        return new ConfiguredStorage(configuration, clock, reason, false);
    }

    /** The storage while rate limiting is off: nobody is counted, and nothing can be changed. */
    static PolicyStorage off(PolicyConfiguration configuration) {
        return new ConfiguredStorage(
                configuration,
                InstantSource.system(),
                "rate limiting is off; set ratelimit.enabled to true and start again",
                true);
    }

    // From memory: the state that this instance applies to requests

    /** The policy in force, with the stored versions it is made of. */
    EffectivePolicy effective();

    @Override
    default Policy current() {
        return effective().policy();
    }

    /** The tiers, quotas and blocks of users. */
    Accounts accounts();

    /** Finds an API key by its id. If it is unknown, revoked or expired, returns {@code null}. Counts no use. */
    @Nullable
    ApiKey findKey(String id);

    /** The stored rows that are invalid and skipped. */
    List<Problem> problems();

    /** The clock by which versions, blocks, API keys and penalties end. */
    InstantSource clock();

    // From the storage

    /** All versions of a limit, the newest first. If there is none, returns an empty list. */
    List<Version<Map<String, String>>> limitHistory(String name);

    /** All versions of a rule, the newest first. If there is none, returns an empty list. */
    List<Version<Rule>> ruleHistory(String name);

    /** All users with a stored tier, quota or block, by name. Includes all their requests to this instance. */
    List<QuotaAdmin.UserQuota> userQuotas();

    Optional<QuotaAdmin.UserQuota> userQuota(String user);

    /** All API keys, including revoked and expired ones, the oldest first. Includes all uses of this instance. */
    List<ApiKeyInfo> keyInfos();

    /** All API keys of a user, as {@link #keyInfos()} does. */
    List<ApiKeyInfo> keyInfos(String owner);

    Optional<ApiKeyInfo> keyInfo(String id);

    /**
     * Whether counts and penalties can be listed: only a store with tables can do that. Without them, one subject at a time can
     * be asked for.
     */
    default boolean listsCounts() {
        return true;
    }

    /**
     * The penalties that are not over, the longest first, at most so many.
     *
     * @throws IllegalStateException if they {@linkplain #listsCounts() cannot be listed}
     */
    List<PenaltyAdmin.Penalty> penalties(int most);

    /**
     * The texts of subjects with state that begin with a prefix, in order, at most so many.
     *
     * @throws IllegalStateException if they {@linkplain #listsCounts() cannot be listed}
     */
    List<String> subjects(String prefix, int most);

    /**
     * The stored state of a subject, and of subjects of several parts that begin with it, at most so many. Empty if it
     * {@linkplain #listsCounts() cannot be listed}.
     */
    List<SubjectAdmin.StoredState> states(Subject subject, int most);

    /** The changes that operators made, the newest first. */
    List<ChangeLog.LoggedChange> changes(ChangeLog.Query query);

    /** The number of penalties that are not over, by limit. Empty if they {@linkplain #listsCounts() cannot be listed}. */
    Map<String, Long> activePenalties();

    /**
     * Whether resets of counts are logged and announced to other instances. If not, only the store is asked for them.
     *
     * @throws IllegalStateException if nobody is counted, so that there is nothing to reset
     */
    default boolean logsResets() {
        return true;
    }

    /**
     * Runs a change in a transaction of its own, whatever transaction the caller is in.
     *
     * <ol>
     *   <li>Waits for changes by other instances, and locks them out until the end.
     *   <li>Reads the changes committed by other instances: {@link #effective()} is up to date.
     *   <li>Runs {@code work}. It may run again if the storage failed for a reason that may have passed.
     *   <li>Commits. If {@code work} throws, everything is rolled back and the exception is passed on.
     *   <li>Applies the change on this instance before it returns. Other instances are notified.
     * </ol>
     *
     * @return the result of {@code work}
     */
    <T> T change(Function<Transaction, T> work);

    /** Runs a change without a result, see {@link #change}. */
    default void run(Consumer<Transaction> work) {
        boolean unused = change(transaction -> {
            work.accept(transaction);
            return true;
        });
    }

    /**
     * The name of a state.
     *
     * @param subject the text of the subject
     * @param limit the name that the limit counts under
     */
    record StateName(String subject, String limit) {}

    /** The writes of one change. They become visible together, when the change is committed. */
    interface Transaction {

        /**
         * Adds a version of a limit. Does not check whether the policy is valid with it.
         *
         * @return the version as it was stored, with its sequence
         */
        Version<Map<String, String>> addLimit(Version<Map<String, String>> version);

        /**
         * Adds a version of a rule. Does not check whether the policy is valid with it. Expressions are dropped from a
         * disabled rule.
         *
         * @return the version as it was stored, with its sequence
         * @throws dev.ratelimit.policy.InvalidRuleException if the rule cannot be stored, because it has an expression
         *     or a value that the storage has no form for
         */
        Version<Rule> addRule(Version<Rule> version);

        /** Replaces the tier and the quota of a user. A block stays as it is. */
        void setQuota(String user, @Nullable String tier, Quota quota, String by);

        /**
         * Replaces the block of a user. The tier and the quota stay as they are.
         *
         * @param until the end of the block; {@code null} to unblock
         */
        void setBlock(String user, @Nullable Instant until, @Nullable String reason, String by);

        /** Creates an API key and stores a hash of its secret. The result is the only copy of the secret. */
        ApiKeyAdmin.IssuedKey addKey(NewApiKey key, String by);

        /** Revokes an API key. If it is revoked already, changes nothing. If there is no such key, returns false. */
        boolean revokeKey(String id, String by);

        /**
         * Logs the change.
         *
         * @param before the state before, a JSON object, or {@code null} if there was none
         * @param after the state after, a JSON object, or {@code null} if there is none
         */
        void log(ChangeLog.Target target, Change change, @Nullable String before, @Nullable String after);

        /** Tells all instances that counts of a subject were reset. */
        void announceReset(Subject subject);

        /**
         * Removes counts, violations and penalties, if they are in the database of this transaction.
         *
         * @return {@code false} if they are elsewhere; then nothing is removed, and the store has to be asked
         */
        boolean removeStates(List<StateName> states);

        /**
         * Replaces the notes on the violations of a subject on a limit. If there are no violations, returns false. It is part of
         * the transaction if the violations are in its database.
         *
         * @param metadata a JSON object
         * @throws IllegalStateException if penalties {@linkplain #listsCounts() cannot be listed}
         */
        boolean notePenalty(Subject subject, String limit, String metadata);
    }
}
