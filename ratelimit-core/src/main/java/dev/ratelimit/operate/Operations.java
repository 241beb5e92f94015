package dev.ratelimit.operate;

import dev.ratelimit.Subject;
import dev.ratelimit.admin.ChangeLog;
import dev.ratelimit.admin.Inquiry;
import dev.ratelimit.admin.RateLimitAdmin;
import dev.ratelimit.admin.SubjectAdmin;
import dev.ratelimit.admin.version.Problem;
import dev.ratelimit.audit.report.AuditQuery;
import dev.ratelimit.audit.report.Reports;
import dev.ratelimit.audit.retention.Retention;
import dev.ratelimit.audit.retention.RetentionReport;
import dev.ratelimit.operate.VersionView.Difference;
import dev.ratelimit.policy.AddressRange;
import dev.ratelimit.setting.Require;
import dev.ratelimit.store.sqlite.Backups;
import java.time.Duration;
import java.time.Instant;
import java.time.InstantSource;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Predicate;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Everything that an operator can see and do, for adapters such as the endpoint and the dashboard. Reads never charge a limit.
 * They return at most {@value #MOST} rows, except of limits and rules. To change something, use {@link #steer}. Safe for use by
 * many threads.
 *
 * <p>Invalid input is an {@link IllegalArgumentException} whose message names the value and the remedy. Where a part is
 * switched off or does not answer, {@link UnavailableException} says so. Where nothing can be changed, it is an
 * {@link IllegalStateException}. If a database fails, so does the call, with Spring's {@code DataAccessException}.
 */
public final class Operations {

    public static final String NO_REPORTS =
            "there are no reports, because neither limits nor counts are kept in a database; set ratelimit.policy.store or"
                    + " ratelimit.store.type to sqlite or postgresql";

    private static final Logger log = LoggerFactory.getLogger(Operations.class);

    /** The largest number of rows that one call returns. */
    public static final int MOST = SubjectAdmin.MOST;

    private static final String USER = "user:";
    private static final String ADDRESS = "ip:";

    private static final Duration RECENTLY = Duration.ofHours(1);
    private static final int MOST_PERIODS = 2_000;

    /**
     * The services that operations read and change, beside limits and rules.
     *
     * @param reports {@code null} if there is no database for them
     * @param backups {@code null} if there is nothing to copy
     * @param retention {@code null} if there is no database that it works on
     * @param status reads the state of this instance
     * @param contextPath the beginning of all paths of the application, which rules do not match; empty if there is none
     */
    public record Services(
            @Nullable Reports reports,
            @Nullable Backups backups,
            @Nullable Retention retention,
            InstanceStatus.Reader status,
            String contextPath) {}

    private final RateLimitAdmin admin;
    private final Services services;
    private final InstantSource clock;
    private final LimitViews limits;
    private final SubjectViews subjects;
    private final BlockViews blocks;

    /**
     * @param clock gives the time for reports
     */
    public Operations(RateLimitAdmin admin, Services services, InstantSource clock) {
        this.admin = admin;
        this.services = services;
        this.clock = clock;
        this.limits = new LimitViews(admin);
        this.blocks = new BlockViews(admin);
        this.subjects = new SubjectViews(admin, blocks);
    }

    /**
     * Changes something.
     *
     * @param author the name of the operator
     * @param reason why; it is kept with the change
     * @throws IllegalArgumentException if either is empty or too long
     */
    public Steering steer(String author, @Nullable String reason) {
        return new Steering(admin, services, Steering.change(author, reason));
    }

    /**
     * The end of a change that is given as a time from now, or as a moment.
     *
     * @param time such as {@code 1h}, or {@code null}
     * @param moment such as {@code 2026-01-31T12:00:00Z}, or {@code null}
     * @return {@code null} if neither is given
     */
    public @Nullable Instant end(@Nullable String time, @Nullable String moment) {
        return Times.end(time, moment, admin.clock().instant());
    }

    /** The time by which changes, blocks and penalties end. */
    public Instant now() {
        return admin.clock().instant();
    }

    // This instance

    /** The state of this instance, from memory. */
    public InstanceStatus status() {
        return services.status().read();
    }

    /** Whether limits and rules apply at all. */
    public boolean isEnabled() {
        return admin.isEnabled();
    }

    /** The stored rows that are invalid and skipped. */
    public List<Problem> problems() {
        return admin.problems();
    }

    /** Whether there is a database that reports are made from. */
    public boolean hasReports() {
        return services.reports() != null;
    }

    // Limits and rules

    /** The names of all limits in force, from memory. */
    public List<String> limitNames() {
        return admin.policy().limits().names().stream().sorted().toList();
    }

    /** All limits in force, by name. */
    public List<LimitView> limits() {
        return limits(name -> true);
    }

    /** The limits in force with these names. */
    public List<LimitView> limits(Predicate<String> named) {
        return limits.limits(named, recentRates());
    }

    /** Without a database there are no figures, but limits are in memory, and an operator needs them most then. */
    private List<Reports.ViolationRate> recentRates() {
        Reports reports = services.reports();
        try {
            if (reports == null) {
                return List.of();
            }
            List<Reports.ViolationRate> rates = new ArrayList<>(reports.violationRates(since(RECENTLY)));
            rates.addAll(reports.trialRates(since(RECENTLY)));
            return rates;
        } catch (RuntimeException e) {
            log.debug("Listing limits without figures, since the reports cannot be read", e);
            return List.of();
        }
    }

    /** The limit of that name that is in force, or {@code null}. */
    public @Nullable LimitView limit(String name) {
        return limits(name::equals).stream().findFirst().orElse(null);
    }

    /** Where the numbers come from that are counted under a name without a limit of its own; {@code null} if it is unknown. */
    public @Nullable String derivation(String name) {
        return limits.derivation(name);
    }

    /** All stored versions of a limit, the newest first; {@code *} is the switch for everything. */
    public List<VersionView> limitHistory(String name) {
        return limits.limitHistory(name);
    }

    /**
     * The difference between two versions of a limit, over all its properties.
     *
     * @param from the number of a version; zero for the configuration
     * @param to the number of a version; zero for the configuration
     */
    public Difference limitDifference(String name, int from, int to) {
        return limits.limitDifference(name, from, to);
    }

    /** All rules in the order of evaluation; then those that are switched off. */
    public List<RuleView> rules() {
        return limits.rules();
    }

    /** The rule of that name that is in force or switched off, or {@code null}. */
    public @Nullable RuleView rule(String name) {
        return rules().stream()
                .filter(rule -> rule.name().equals(name))
                .findFirst()
                .orElse(null);
    }

    /** All stored versions of a rule, the newest first. */
    public List<VersionView> ruleHistory(String name) {
        return limits.ruleHistory(name);
    }

    /** The difference between two versions of a rule; zero is the configuration. */
    public Difference ruleDifference(String name, int from, int to) {
        return limits.ruleDifference(name, from, to);
    }

    // Subjects

    /** The texts of subjects that begin so, such as {@code user:al}; without a kind, users, addresses and API keys. */
    public List<String> searchSubjects(String prefix, int most) {
        requireListed();
        return admin.subjects().search(prefix, most);
    }

    public SubjectView user(String name) {
        return subjects.subject(Subject.user(name));
    }

    /** Where an address stands. */
    public SubjectView address(String address) {
        return subjects.subject(admin.subjects().ofAddress(address));
    }

    /** Where an API key stands, by its id. */
    public SubjectView apiKey(String id) {
        return subjects.subject(Subject.of("api-key", id));
    }

    /** The text of the subject that a person means by a name or an address, with or without its kind. */
    public String meant(String text) {
        return admin.subjects().meant(text).text();
    }

    /** Where a subject stands, by its text, such as {@code user:alice}. An address is the client that it counts as. */
    public SubjectView subject(String text) {
        return subjects.subject(admin.subjects().counted(text));
    }

    /** The block of an address or a range, also by a range around it; {@code null} if there is none. */
    public @Nullable BlockView addressBlock(String range) {
        return blocks.ofAddresses(Steering.blocked(range, admin), admin.clock().instant());
    }

    /** The blocks of addresses and users that are not over. */
    public List<BlockView> blocks(int most) {
        return blocks.all(admin.clock().instant()).limit(requireMost(most)).toList();
    }

    /** The penalties that are not over, the longest first. */
    public List<PenaltyView> penalties(int most) {
        requireListed();
        Instant now = admin.clock().instant();
        return admin.penalties().list(most).stream()
                .map(penalty -> PenaltyView.of(penalty, now))
                .toList();
    }

    /** The number of penalties that are not over. */
    public long penaltyCount() {
        requireListed();
        return admin.penalties().count();
    }

    /** The changes that operators made, the newest first. */
    public List<ChangeView> changes(ChangeLog.Query query) {
        return admin.changes().list(query).stream().map(ChangeView::of).toList();
    }

    // Requests

    /** Every rule, why it applies to a request or not, and the outcome. */
    public ExplanationView explain(Inquiry inquiry) {
        return ExplanationView.of(inquiry, admin.explain(inquiry), List.of());
    }

    /**
     * The same for the request of a {@code curl} command line. It is only read: nothing is sent or run.
     *
     * @param address the address that the request comes from, or {@code null}
     */
    public ExplanationView explainCurl(String line, @Nullable String address) {
        CurlLine request = CurlLine.parse(line);
        Inquiry inquiry = request.inquiry(address, services.contextPath());
        return ExplanationView.of(inquiry, admin.explain(inquiry), request.notes());
    }

    /** The subjects with the most requests, the busiest first. */
    public List<Reports.SubjectTotals> busiest(Duration last, int most) {
        return reports().busiest(since(last), requireMost(most));
    }

    /** The subjects that were denied most often, the most denied first. */
    public List<Reports.SubjectTotals> mostDenied(Duration last, int most) {
        return reports().mostDenied(since(last), requireMost(most));
    }

    /** The violations of each limit, the most violated first. */
    public List<Reports.LimitViolations> violations(Duration last) {
        return reports().violations(since(last));
    }

    /** The share of requests that exceeded each limit, the highest first. */
    public List<Reports.ViolationRate> violationRates(Duration last) {
        return reports().violationRates(since(last));
    }

    /**
     * The number of requests over time, the oldest first. Periods without requests are left out.
     *
     * @param limit the name of a limit, or {@code null} for whole requests
     */
    public List<PeriodView> timeline(@Nullable String limit, Reports.Granularity granularity, Duration last) {
        requireFew(granularity, last);
        return reports().timeline(limit, granularity, since(last), clock.instant()).stream()
                .map(PeriodView::of)
                .toList();
    }

    /**
     * The requests of a subject over time on each limit, the limit with the most denials first. Periods without a row of its own are
     * left out: it was not denied, and others were busier.
     *
     * @param subject its text, such as {@code user:alice}; subjects of several parts that begin with it are included
     */
    public List<Reports.SubjectTimeline> timelines(String subject, Reports.Granularity granularity, Duration last) {
        requireFew(granularity, last);
        String text = admin.subjects().counted(subject).text();
        return reports().timelines(text, granularity, since(last), clock.instant());
    }

    private static void requireFew(Reports.Granularity granularity, Duration last) {
        if (last.dividedBy(granularity.length()) > MOST_PERIODS) {
            throw new IllegalArgumentException("the time is " + Times.spoken(last) + "; write at most "
                    + Times.spoken(granularity.length().multipliedBy(MOST_PERIODS)) + " of periods of a "
                    + granularity.keyword());
        }
    }

    /** Requests of the audit trail, the newest first. */
    public List<AuditView> audit(AuditQuery query) {
        return reports().entries(query).stream().map(AuditView::of).toList();
    }

    /**
     * Requests of a subject in the audit trail, the newest first. Of a user or an address, also those that no limit decided.
     *
     * @param subject its text, such as {@code user:alice}; an IPv6 address for this address only, {@code ip:2001:db8::/64} or
     *     {@code ip:203.0.113.0/24} for all addresses of a network; subjects of several parts that begin with it are included
     */
    public List<AuditView> audit(String subject, Duration last, int most) {
        return audit(entriesOf(subject, AuditQuery.since(since(last), most)));
    }

    /** Entries hold the user and the whole address as they came, and the subject only if a limit decided. */
    private AuditQuery entriesOf(String text, AuditQuery query) {
        if (text.startsWith(USER)) {
            Subject subject = admin.subjects().meant(text);
            String user = SubjectAdmin.userOf(subject);
            return user == null ? query.ofSubject(subject.text()) : query.ofUser(user);
        }
        if (text.startsWith(ADDRESS)) {
            AddressRange range = AddressRange.around(text.substring(ADDRESS.length()));
            return range == null
                    ? query.ofSubject(admin.subjects().counted(text).text())
                    : query.ofAddress(range.toString());
        }
        return query.ofSubject(Subject.ofText(text).text());
    }

    // Backups and retention

    /** The backups of the SQLite files, the newest first. */
    public List<Backups.Backup> backups() {
        Backups backups = services.backups();
        return backups == null ? List.of() : UnavailableException.unlessDone(backups::list);
    }

    /** The months of the audit trail and of totals that would be dropped now, and the last run. Changes nothing. */
    public RetentionView retention() {
        Retention retention = Steering.require(services.retention());
        RetentionReport last = retention.lastRun();
        return new RetentionView(
                RetentionView.Plan.of(UnavailableException.unlessDone(retention::plan)),
                last == null ? null : RetentionView.Run.of(last));
    }

    /** The moment so long ago. */
    public Instant since(Duration last) {
        if (last.isNegative() || last.isZero() || last.toDays() > Require.LONGEST.toDays()) {
            throw new IllegalArgumentException("the time is " + last + "; write one from 1s to 3660d, such as 1h");
        }
        return clock.instant().minus(last);
    }

    private static int requireMost(int most) {
        if (most < 1 || most > MOST) {
            throw new IllegalArgumentException("the number of rows is " + most + "; write a number from 1 to " + MOST);
        }
        return most;
    }

    private void requireListed() {
        if (!admin.subjects().listsCounts()) {
            throw new UnavailableException(SubjectAdmin.NOT_LISTED);
        }
    }

    private Reports reports() {
        Reports reports = services.reports();
        if (reports == null) {
            throw new UnavailableException(NO_REPORTS);
        }
        return reports;
    }
}
