package dev.ratelimit.admin;

import dev.ratelimit.IpAddress;
import dev.ratelimit.Limit;
import dev.ratelimit.LimitDecision;
import dev.ratelimit.LimitRequest;
import dev.ratelimit.Limits;
import dev.ratelimit.RateLimiter;
import dev.ratelimit.Subject;
import dev.ratelimit.caller.Caller;
import dev.ratelimit.caller.Quota;
import dev.ratelimit.gate.Subjects;
import dev.ratelimit.policy.AddressRange;
import dev.ratelimit.policy.Policy;
import dev.ratelimit.policy.Rule;
import dev.ratelimit.policy.SubjectKey;
import dev.ratelimit.policy.TrialNames;
import dev.ratelimit.support.LoginName;
import java.net.URLDecoder;
import java.nio.charset.StandardCharsets;
import java.time.Instant;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.TreeSet;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/** Finds subjects, and shows where they stand on every limit. Consumes nothing. */
public final class SubjectAdmin {

    /** The largest number of rows that one call reads. */
    public static final int MOST = 1_000;

    /** The reason why penalties and subjects cannot be listed, and what to do instead. */
    public static final String NOT_LISTED =
            "penalties and subjects cannot be listed with this store, since only SQLite and PostgreSQL keep counts in tables;"
                    + " look up one subject by its name instead";

    /** The number of limits that are asked together. */
    private static final int MOST_AT_ONCE = 100;

    /** A subject with its type, and perhaps further parts. */
    private static final Pattern WITH_TYPE = Pattern.compile("(user|ip|api-key|name):[^+]+(\\+[a-z][a-z0-9-]*:.+)?");

    /** The characters of addresses and ranges. */
    private static final Pattern NUMERIC = Pattern.compile("[0-9.]*/?[0-9]*|[0-9A-Fa-f:.]*:[0-9A-Fa-f:.]*(/[0-9]*)?");

    /** The types of subjects that a search without a type looks through. */
    private static final List<String> TYPES = List.of(Subject.USER, Subject.IP, Subject.API_KEY);

    /**
     * The stored state of a subject on a limit.
     *
     * @param lastRequestAt when the state was last written; {@code null} if there are violations only
     * @param violations the number of violations that are remembered
     * @param lastViolationAt {@code null} if none is remembered
     * @param penaltyUntil the end of the latest penalty, past or not; {@code null} if there was none
     */
    public record StoredState(
            String subject,
            String limit,
            @Nullable Instant lastRequestAt,
            long violations,
            @Nullable Instant lastViolationAt,
            @Nullable Instant penaltyUntil) {}

    /**
     * Where a subject stands on a limit.
     *
     * @param limit the name that the count is kept under
     * @param trial whether the count is of a trial, which denies nobody
     * @param decision the answer to a request now; {@code null} if no such limit is in force, or the store is unavailable
     * @param stored the stored state; {@code null} if nothing is counted, or counts cannot be listed
     */
    public record Standing(
            Subject subject,
            String limit,
            boolean trial,
            @Nullable LimitDecision decision,
            @Nullable StoredState stored) {}

    private final PolicyStorage storage;
    private final RateLimiter limiter;
    private final Subjects subjects;

    SubjectAdmin(PolicyStorage storage, RateLimiter limiter, Subjects subjects) {
        this.storage = storage;
        this.limiter = limiter;
        this.subjects = subjects;
    }

    /**
     * The subject that requests from an address count as.
     *
     * @throws IllegalArgumentException if it is not an address
     */
    public Subject ofAddress(String address) {
        return subjects.ofAddress(parsed(address));
    }

    /**
     * The address or the range that counts as one client with an address.
     *
     * @throws IllegalArgumentException if it is not an address
     */
    public String clientAt(String address) {
        return subjects.client(parsed(address));
    }

    private static IpAddress parsed(String address) {
        IpAddress parsed = IpAddress.parse(address);
        if (parsed == null) {
            throw new IllegalArgumentException(
                    "the address is '" + address + "'; write one such as 203.0.113.7 or 2001:db8::7");
        }
        return parsed;
    }

    /**
     * The subject that tables and logs hold for a text. An address in it may be written in any way, and is the client that it
     * counts as.
     *
     * @throws IllegalArgumentException if it is not the text of a subject
     */
    public Subject counted(String text) {
        Subject subject = Subject.ofText(text);
        if (subject.isOf(Subject.IP) && text.indexOf('+') < 0 && text.indexOf('~') < 0) {
            requireAddress(text.substring(Subject.IP.length() + 1));
        }
        return subjects.counted(subject);
    }

    /** Refuses what looks like an address and is none: a mistyped one would be reset or searched without effect. */
    private static void requireAddress(String written) {
        if (NUMERIC.matcher(written).matches() && AddressRange.around(written) == null) {
            throw new IllegalArgumentException(
                    "the address is '" + written + "'; write one such as 203.0.113.7, 2001:db8::7 or 203.0.113.0/24");
        }
    }

    /**
     * The subject that a person means by a text: a name or an address, with or without its kind. A plus sign may be part of a
     * name.
     */
    public Subject meant(String text) {
        String written = text.strip();
        if (WITH_TYPE.matcher(written).matches()) {
            return counted(written);
        }
        if (written.startsWith(Subject.USER + ':')) {
            return Subject.user(written.substring(Subject.USER.length() + 1));
        }
        return AddressRange.around(written) != null ? subjects.counted(Subject.ip(written)) : Subject.user(written);
    }

    /** Whether subjects and penalties can be listed. Otherwise only one subject at a time can be looked up. */
    public boolean listsCounts() {
        return storage.listsCounts();
    }

    /**
     * The texts of subjects with stored state, in order.
     *
     * @throws IllegalStateException if they {@linkplain #listsCounts() cannot be listed}
     * @param prefix the beginning of the text, such as {@code user:al}; without a kind, users, addresses, API keys and the names
     *     of failed logins are searched
     * @param most at most so many
     */
    public List<String> search(String prefix, int most) {
        requireMost(most);
        String written = prefix.strip();
        if (written.isEmpty()) {
            throw new IllegalArgumentException("the beginning of a subject is empty; write one such as user:al");
        }
        TreeSet<String> found = new TreeSet<>(storage.subjects(written, most));
        for (String type : TYPES) {
            String prefixed = type + ':';
            boolean typed = written.startsWith(prefixed);
            String value = typed ? written.substring(prefixed.length()) : written;
            if (!value.isBlank()) {
                found.addAll(storage.subjects(Subject.of(type, value).text(), most));
            }
        }
        String address = written.startsWith(Subject.IP + ':') ? written.substring(Subject.IP.length() + 1) : written;
        if (AddressRange.around(address) != null) {
            found.addAll(storage.subjects(subjects.counted(Subject.ip(address)).text(), most));
        }
        String name = LoginName.folded(written);
        if (!name.isEmpty() && written.indexOf(':') < 0) {
            found.addAll(storage.subjects(Subject.of(LoginName.TYPE, name).text(), most));
        }
        return found.stream().limit(most).toList();
    }

    /** Refuses a number of rows that would take too long. */
    static void requireMost(int most) {
        if (most < 1 || most > MOST) {
            throw new IllegalArgumentException("the number of rows is " + most + "; write a number from 1 to " + MOST);
        }
    }

    /**
     * Where a subject stands: on every limit that rules in force count it for, on its quota, and wherever it has stored
     * state. Subjects of several parts that begin with this one are included.
     *
     * @param caller the sender that the subject stands for, for the tier and the quota
     */
    public List<Standing> standings(Subject subject, Caller caller) {
        Policy policy = storage.current();
        Map<String, Place> places = new LinkedHashMap<>();
        for (String name : namesFor(subject, policy)) {
            add(places, new Place(subject, name, limit(name, policy.limits(), caller), null));
        }
        if (countsQuota(subject, policy, caller)) {
            caller.quota().forEach(part -> add(places, new Place(subject, part.name(), part, null)));
        }
        for (StoredState state : states(subject)) {
            Limit limit = limit(state.limit(), policy.limits(), caller);
            add(places, new Place(Subject.ofText(state.subject()), state.limit(), limit, state));
        }
        Map<String, LimitDecision> answers = peek(List.copyOf(places.values()));
        return places.values().stream()
                .map(place -> new Standing(
                        place.subject(),
                        place.name(),
                        TrialNames.isTrial(place.name()),
                        answers.get(place.key()),
                        place.state()))
                .toList();
    }

    /**
     * The stored states of the subject; for a user also the failed logins. Before a login succeeds, nobody knows that
     * it is of this user.
     */
    private List<StoredState> states(Subject subject) {
        List<StoredState> states = new ArrayList<>(storage.states(subject, MOST));
        String user = userOf(subject);
        String name = user == null ? "" : LoginName.folded(user);
        if (!name.isEmpty()) {
            storage.states(Subject.of(LoginName.TYPE, name), MOST).stream()
                    .filter(state -> !LoginName.isKnownAddressMark(state.limit()))
                    .forEach(states::add);
        }
        return states.subList(0, Math.min(states.size(), MOST));
    }

    /**
     * A limit that may have counted a subject.
     *
     * @param name the name that it counts under
     * @param limit {@code null} if no such limit is in force
     */
    private record Place(
            Subject subject,
            String name,
            @Nullable Limit limit,
            @Nullable StoredState state) {

        String key() {
            return key(subject, name);
        }

        static String key(Subject subject, String name) {
            return subject.text() + ' ' + name;
        }
    }

    /** With the stored state, if it has one. */
    private static void add(Map<String, Place> places, Place place) {
        places.put(place.key(), place);
    }

    /** The answers by the keys of their places. Many are asked together: a subject may have a thousand rows. */
    private Map<String, LimitDecision> peek(List<Place> places) {
        Map<String, LimitDecision> answers = new HashMap<>();
        for (int from = 0; from < places.size(); from += MOST_AT_ONCE) {
            LimitRequest request = LimitRequest.NONE;
            for (Place place : places.subList(from, Math.min(places.size(), from + MOST_AT_ONCE))) {
                Limit limit = place.limit();
                request = limit == null ? request : request.and(place.subject(), limit);
            }
            if (!request.items().isEmpty()) {
                limiter.peek(request)
                        .limits()
                        .forEach(answer -> answers.put(
                                Place.key(answer.subject(), answer.limit().name()), answer));
            }
        }
        return answers;
    }

    private static boolean countsQuota(Subject subject, Policy policy, Caller caller) {
        return TYPES.stream().anyMatch(subject::isOf)
                && Objects.equals(subject, caller.quotaSubject(subject))
                && policy.rules().rules().stream()
                        .anyMatch(rule -> rule.limits().contains(Quota.LIMIT));
    }

    /** The limits that rules in force count such subjects for. */
    private static List<String> namesFor(Subject subject, Policy policy) {
        List<String> names = new ArrayList<>();
        for (Rule rule : policy.rules().rules()) {
            String type = SubjectKey.parse(rule.name(), rule.key()).kind().subjectType();
            if (type != null && subject.isOf(type) && subject.text().indexOf('+') < 0) {
                rule.limits().stream()
                        .filter(name -> !name.equals(Quota.LIMIT))
                        .map(name -> rule.counting(policy.limits().get(name)).name())
                        .filter(name -> !names.contains(name))
                        .forEach(names::add);
            }
        }
        return names;
    }

    /** The limit that counts under a name, or {@code null}. */
    private static @Nullable Limit limit(String name, Limits limits, Caller caller) {
        if (Quota.isPart(name)) {
            return caller.quota().stream()
                    .filter(part -> part.name().equals(name))
                    .findFirst()
                    .orElse(null);
        }
        return TrialNames.isTrial(name)
                ? TrialNames.find(name, live -> limits.find(live, caller.tier()))
                : limits.find(name, caller.tier());
    }

    /** The sender that a subject stands for: a user or an API key, else nobody. */
    public Caller caller(Subject subject) {
        String user = subject.isOf(Subject.USER) ? userOf(subject, storage) : null;
        String key = valueOf(subject, Subject.API_KEY);
        return storage.current()
                .tiers()
                .caller(
                        user,
                        Set.of(),
                        key == null
                                ? null
                                : storage.keyInfo(key).map(ApiKeyInfo::key).orElse(null),
                        storage.accounts());
    }

    /** The name of a user. A long one is not in the text of the subject, but may have an account. */
    private static @Nullable String userOf(Subject subject, PolicyStorage storage) {
        String user = userOf(subject);
        return user != null || subject.text().indexOf('~') < 0
                ? user
                : storage.userQuotas().stream()
                        .map(stored -> stored.account().user())
                        .filter(name -> subject.equals(Subject.user(name)))
                        .findFirst()
                        .orElse(null);
    }

    /** The name of the user that a subject stands for, or {@code null}. */
    public static @Nullable String userOf(Subject subject) {
        return valueOf(subject, Subject.USER);
    }

    /** The value of a subject of one part, or {@code null} if it is of another kind or too long to be known. */
    private static @Nullable String valueOf(Subject subject, String type) {
        String text = subject.text();
        if (!subject.isOf(type) || text.indexOf('+') >= 0 || text.indexOf('~') >= 0) {
            return null;
        }
        try {
            return URLDecoder.decode(text.substring(type.length() + 1), StandardCharsets.UTF_8);
        } catch (IllegalArgumentException e) {
            return null; // a lone surrogate, which no name of a user has
        }
    }
}
