package dev.ratelimit.autoconfigure.property;

import dev.ratelimit.FailurePolicy;
import dev.ratelimit.database.PolicyStore;
import dev.ratelimit.database.StoreProperties;
import dev.ratelimit.gate.Subjects;
import dev.ratelimit.policy.Action;
import dev.ratelimit.policy.Conditions;
import dev.ratelimit.policy.RuleBook.MatchMode;
import dev.ratelimit.setting.InvalidPropertyException;
import dev.ratelimit.support.Keyword;
import dev.ratelimit.web.ForwardingHeader;
import java.time.Duration;
import java.time.ZoneId;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.jspecify.annotations.Nullable;
import org.springframework.boot.context.properties.ConfigurationProperties;
import org.springframework.boot.context.properties.NestedConfigurationProperty;
import org.springframework.boot.context.properties.bind.DefaultValue;
import org.springframework.boot.context.properties.bind.Name;

/**
 * The configuration under {@code ratelimit}. Each component is one property, so some records are long.
 *
 * @param enabled whether limits and rules apply; if not, every request passes and no database is used
 * @param limits the limits, by name
 * @param rules which requests limits apply to, by name or as a list
 * @param match whether all throttling rules that match a request apply, or the first only
 * @param tiers the tiers of callers, and their quotas
 * @param apiKeys the API keys that callers may send
 * @param changes limits and rules that are changed in the database while the application runs
 * @param policy where limits, rules, quotas and API keys are kept that are defined while the application runs
 * @param onFailure the failure policy for rules that do not set one: local decides in this
 *     instance by the same limits, open lets requests pass, closed rejects them
 * @param instances how many instances share the store; while it is unavailable, each grants its share of a limit
 * @param identity how clients are identified
 * @param headers the headers of responses
 * @param exempt requests that no limit applies to
 * @param dashboard the page of the module ratelimit-dashboard
 * @param login how failed logins are limited
 * @param filter the order of the filters
 * @param store where state is kept
 * @param grouping how requests that wait at the same moment are decided together
 * @param deniedCache how denials are cached
 * @param upkeep how expired state is deleted
 * @param audit the audit trail, and totals over time
 * @param backup where backups are written
 * @param monitoring metrics, log lines and warnings
 */
@ConfigurationProperties(prefix = "ratelimit", ignoreUnknownFields = false)
public record RateLimitProperties(
        @DefaultValue("true") boolean enabled,
        @DefaultValue Map<String, LimitSpec> limits,
        @DefaultValue Map<String, RuleSpec> rules,
        @DefaultValue("all") MatchMode match,
        @DefaultValue TiersSpec tiers,
        @DefaultValue ApiKeysSpec apiKeys,
        @DefaultValue Changes changes,
        @DefaultValue PolicySpec policy,
        @DefaultValue("local") FailurePolicy onFailure,
        @DefaultValue("1") int instances,
        @DefaultValue Identity identity,
        @DefaultValue Headers headers,
        @DefaultValue Exempt exempt,
        @DefaultValue Dashboard dashboard,
        @DefaultValue Login login,
        @DefaultValue Filter filter,
        @NestedConfigurationProperty @DefaultValue StoreProperties store,
        @DefaultValue GroupingSpec grouping,
        @DefaultValue DeniedCache deniedCache,
        @DefaultValue UpkeepSpec upkeep,
        @NestedConfigurationProperty @DefaultValue AuditProperties audit,
        @DefaultValue Backup backup,
        @NestedConfigurationProperty @DefaultValue MonitoringProperties monitoring) {

    /**
     * A limit as it is written. A property of another algorithm is invalid.
     *
     * @param enabled whether it applies; a limit that does not is neither asked nor charged
     * @param base the name of a limit to inherit properties from
     * @param algorithm how it counts
     * @param maxRequests windows and logs: the most requests in a window
     * @param window windows and logs: a time such as 1m; for fixed-window also hour, day, week or month
     * @param zone the time zone of a window of the calendar, such as Europe/Berlin
     * @param burst token-bucket: how many tokens it holds
     * @param refill token-bucket: a rate such as 1/s, 60/m or 5/15m
     * @param capacity leaky-bucket: how much it holds
     * @param drain leaky-bucket: a rate such as 1/s, 60/m or 5/15m
     * @param maxWait leaky-bucket: how long a request may wait for its turn; without it, requests that do not fit are denied
     * @param cost the charge for a request
     * @param minInterval the least time between two allowed requests
     * @param penalties for how long a subject is denied after so many violations
     * @param forgetAfter how long after the last violation all violations are forgotten
     * @param retryAfter the least retry-after of a request that it denies
     * @param lease how many permits of a hot subject an instance takes at once: a number, or auto
     * @param tiers overrides for callers of a tier, by the name of the tier
     * @param candidate overrides to try beside the live numbers: they count and report, and deny nothing
     */
    record LimitSpec(
            @Nullable String enabled,
            @Nullable String base,
            @Nullable AlgorithmName algorithm,
            @Nullable String maxRequests,
            @Nullable String window,
            @Nullable String zone,
            @Nullable String burst,
            @Nullable String refill,
            @Nullable String capacity,
            @Nullable String drain,
            @Nullable String maxWait,
            @Nullable String cost,
            @Nullable String minInterval,
            @Nullable List<PenaltySpec> penalties,
            @Nullable String forgetAfter,
            @Nullable String retryAfter,
            @Nullable String lease,
            @DefaultValue Map<String, Map<String, String>> tiers,
            @DefaultValue Map<String, String> candidate) {}

    /** The algorithms; a type of its own so that editors complete it. */
    enum AlgorithmName {
        FIXED_WINDOW,
        SLIDING_WINDOW,
        SLIDING_LOG,
        TOKEN_BUCKET,
        LEAKY_BUCKET;

        /** As it is written in configuration. */
        String keyword() {
            return Keyword.of(this);
        }
    }

    /**
     * A step of penalties.
     *
     * @param after how many violations it takes
     * @param block how long the subject is denied: a time such as 5m, or forever
     */
    record PenaltySpec(@Nullable String after, @Nullable String block) {}

    /**
     * A rule as it is written.
     *
     * @param name its name; without one, the key under which it stands
     * @param enabled whether it applies
     * @param priority rules of higher priority come first
     * @param path a path pattern such as /api/**
     * @param methods the methods of HTTP it applies to; all without any. GET covers HEAD
     * @param addresses addresses and ranges of clients that it applies to, such as 10.0.0.0/8
     * @param tiers the tiers of callers that it applies to
     * @param authorities it applies to callers that have one of these authorities
     * @param apiKeys the API keys that it applies to, by id or name; * for any
     * @param condition an expression over the request that must be true, such as #request.getHeader('X-Beta') != null
     * @param action the action: throttle by its limits, block, allow, or shadow (count and report, deny nothing)
     * @param key whose count it is: user, ip, user+ip, session, api-key, header:NAME, bean:NAME or an expression
     * @param limits the names of the limits; quota for the quota of the caller
     * @param response the answer to denied requests
     * @param onFailure the failure policy when the store is unavailable
     */
    record RuleSpec(
            @Nullable String name,
            @DefaultValue("true") boolean enabled,
            @DefaultValue("0") int priority,
            @DefaultValue(Conditions.ANY_PATH) String path,
            @DefaultValue Set<String> methods,
            @DefaultValue List<String> addresses,
            @DefaultValue Set<String> tiers,
            @DefaultValue Set<String> authorities,
            @DefaultValue Set<String> apiKeys,
            @Nullable String condition,
            @DefaultValue("throttle") Action action,
            @DefaultValue("user") String key,
            @DefaultValue List<String> limits,
            @Nullable ResponseSpec response,
            @Nullable FailurePolicy onFailure) {}

    /**
     * The answer of a rule to denied requests.
     *
     * @param status the status; without one 429, or 403 from a rule that says block
     * @param message the sentence for people
     * @param retryAfter the least retry-after
     */
    record ResponseSpec(
            @Nullable Integer status,
            @Nullable String message,
            @Nullable Duration retryAfter) {}

    /**
     * The tiers of callers, and their quotas.
     *
     * @param defaultTier the tier of callers without any other
     * @param authorities the tier of callers with an authority; the first match counts
     * @param quotas the quotas by name of the tier; rules apply them as the limit quota
     * @param names further tiers, which users and API keys have only in the database
     * @param zone the time zone in which days and months of quotas begin
     */
    public record TiersSpec(
            @Name("default") @DefaultValue("free") String defaultTier,
            @DefaultValue Map<String, String> authorities,
            @DefaultValue Map<String, QuotaSpec> quotas,
            @DefaultValue Set<String> names,
            @DefaultValue("UTC") ZoneId zone) {}

    /**
     * The quota of a caller over all requests.
     *
     * @param perSecond requests in a second
     * @param perHour requests in an hour of the calendar
     * @param perDay requests in a day of the calendar
     * @param perMonth requests in a month of the calendar
     * @param burst requests at once, refilled at the finest of the other numbers
     * @param zone the time zone in which days and months begin, if it differs
     */
    record QuotaSpec(
            @Nullable Long perSecond,
            @Nullable Long perHour,
            @Nullable Long perDay,
            @Nullable Long perMonth,
            @Nullable Long burst,
            @Nullable ZoneId zone) {}

    /**
     * The API keys that callers may send.
     *
     * @param enabled whether to check API keys, and reject invalid ones with 401
     * @param header the header with the API key
     * @param bearer whether to read API keys also from Authorization: Bearer
     * @param guesses how many unknown API keys an address may try per minute
     */
    public record ApiKeysSpec(
            @DefaultValue("false") boolean enabled,
            @DefaultValue("X-API-Key") String header,
            @DefaultValue("false") boolean bearer,
            @DefaultValue("10") long guesses) {}

    /**
     * Limits, rules, quotas and keys that are changed in the database while the application runs.
     *
     * @param enabled whether to read them from the database
     * @param pollInterval how often to read changes
     * @param listen whether to listen for notifications of PostgreSQL, on one more connection
     */
    public record Changes(
            @DefaultValue("true") boolean enabled,
            @DefaultValue("1s") Duration pollInterval,
            @DefaultValue("true") boolean listen) {}

    /**
     * Where limits, rules, quotas and API keys are kept that are defined while the application runs.
     *
     * @param store the database with their tables; by default the one with the counts
     */
    public record PolicySpec(@DefaultValue("auto") PolicyStore store) {}

    /**
     * How clients are identified.
     *
     * @param trustedProxies addresses and ranges whose X-Forwarded-For and Forwarded headers are trusted
     * @param forwardedHeader the header in which trusted proxies name the client; auto for whichever they write
     * @param ipv6Prefix how many leading bits of an IPv6 address identify a client
     */
    public record Identity(
            @DefaultValue List<String> trustedProxies,
            @DefaultValue("auto") ForwardingHeader forwardedHeader,
            @DefaultValue("64") int ipv6Prefix) {

        /** Says which client an address stands for. */
        public Subjects subjects() {
            return InvalidPropertyException.under("ratelimit.identity.", () -> new Subjects(ipv6Prefix));
        }
    }

    /**
     * The headers of responses.
     *
     * @param legacy whether to write X-RateLimit-Limit, X-RateLimit-Remaining and X-RateLimit-Reset
     * @param standard whether to write RateLimit-Policy and RateLimit
     */
    public record Headers(
            @DefaultValue("true") boolean legacy,
            @DefaultValue("true") boolean standard) {}

    /**
     * Requests that no limit applies to.
     *
     * @param authorities callers with one of these authorities, such as ROLE_ADMIN
     * @param addresses clients with these addresses and ranges
     * @param paths path patterns such as /health/**
     * @param actuator whether actuator endpoints are exempt
     */
    public record Exempt(
            @DefaultValue Set<String> authorities,
            @DefaultValue List<String> addresses,
            @DefaultValue List<String> paths,
            @DefaultValue("true") boolean actuator) {}

    /**
     * The page of the module ratelimit-dashboard, which reads these properties itself.
     *
     * @param path where the dashboard is served
     * @param viewAuthority the authority that may look at the dashboard
     * @param steerAuthority the authority that may also change limits with the dashboard
     * @param unprotected whether everybody may use the dashboard, even without Spring Security
     */
    public record Dashboard(
            @DefaultValue("/ratelimit") String path,
            @DefaultValue("RATELIMIT_VIEW") String viewAuthority,
            @DefaultValue("RATELIMIT_STEER") String steerAuthority,
            @DefaultValue("false") boolean unprotected) {}

    /**
     * How failed logins with Spring Security are limited.
     *
     * @param limit the name of the limit of failed logins by address and name together; without one, they are not limited
     * @param addressLimit the name of the limit by address alone; ten times the limit by default
     * @param nameLimit the name of the limit by name alone, or none; twenty times the limit by default
     */
    public record Login(
            @Nullable String limit,
            @Nullable String addressLimit,
            @Nullable String nameLimit) {

        public Login {
            requireName("limit", limit, "without it, failed logins are not limited");
            requireName("address-limit", addressLimit, "the default is ten times ratelimit.login.limit");
            requireName("name-limit", nameLimit, "the default is twenty times ratelimit.login.limit");
        }

        /** An empty name, as of a variable that is not set, could mean either: nobody would notice a wrong guess. */
        private static void requireName(String property, @Nullable String value, String without) {
            if (value != null && value.isBlank()) {
                throw new InvalidPropertyException(
                        "ratelimit.login." + property, value, "name a limit, or leave it out: " + without);
            }
        }
    }

    /**
     * The order of the filters. Spring Security's filter has the order -100.
     *
     * @param orderBeforeAuthentication the order of the filter for rules that do not need the user
     * @param orderAfterAuthentication the order of the filter for rules that need the user
     */
    public record Filter(
            @DefaultValue("-110") int orderBeforeAuthentication,
            @DefaultValue("-90") int orderAfterAuthentication) {}

    /**
     * The cache of denials, which repeats them without asking the store.
     *
     * @param enabled whether to cache denials
     * @param maxSize the most cached denials
     */
    public record DeniedCache(
            @DefaultValue("true") boolean enabled,
            @DefaultValue("10000") int maxSize) {

        public DeniedCache {
            if (maxSize < 1) {
                throw new InvalidPropertyException(
                        "ratelimit.denied-cache.max-size",
                        Integer.toString(maxSize),
                        "write a whole number of at least 1");
            }
        }
    }

    /**
     * How requests are decided together.
     *
     * @param groupsInFlight how many groups may be at the store at once; by default 1 on SQLite and 2 on PostgreSQL
     * @param maxGroupSize the most requests in a group
     * @param maxWaiting the most requests that may wait
     */
    public record GroupingSpec(
            @Nullable Integer groupsInFlight,
            @DefaultValue("256") int maxGroupSize,
            @DefaultValue("10000") int maxWaiting) {}

    /**
     * How expired state is deleted.
     *
     * @param interval how often to delete expired state
     * @param keep how long to keep expired state
     */
    public record UpkeepSpec(
            @DefaultValue("10m") Duration interval,
            @DefaultValue("1h") Duration keep) {}

    /**
     * Where backups are written.
     *
     * @param directory the folder for backups of the SQLite files; it is created with the first one
     */
    public record Backup(@Nullable String directory) {

        public Backup {
            if (directory != null && directory.isBlank()) {
                throw new InvalidPropertyException(
                        "ratelimit.backup.directory",
                        directory,
                        "write the path of a folder, such as /var/backups/app, or leave it out");
            }
        }
    }
}
