package dev.ratelimit.test;

import dev.ratelimit.Decision;
import dev.ratelimit.IpAddress;
import dev.ratelimit.Limit;
import dev.ratelimit.LimitRequest;
import dev.ratelimit.Limits;
import dev.ratelimit.RateLimiter;
import dev.ratelimit.Subject;
import dev.ratelimit.caller.ApiKey;
import dev.ratelimit.caller.Caller;
import dev.ratelimit.caller.Quota;
import dev.ratelimit.gate.Subjects;
import dev.ratelimit.login.check.LoginSubjects;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Objects;
import java.util.Set;
import java.util.TreeSet;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import org.springframework.context.ApplicationContext;

/** Uses a limit up, as far as {@link WithRateLimit} says, for every subject that the caller may count as. */
final class LeftOver {

    /** The addresses of MockMvc, and of clients of a server on this machine. */
    private static final List<String> THIS_MACHINE = List.of("127.0.0.1", "::1");

    private final ApplicationContext context;
    private final WithRateLimit annotation;
    private final @Nullable Caller caller;

    /**
     * @param caller {@code null} in an application without rules
     */
    LeftOver(ApplicationContext context, WithRateLimit annotation, @Nullable Caller caller) {
        this.context = context;
        this.annotation = annotation;
        this.caller = caller;
    }

    void leave() {
        if (annotation.remaining() < 0) {
            throw invalid("remaining is " + annotation.remaining() + "; write zero or more");
        }
        List<Limit> limits = limits();
        for (Subject subject : subjects()) {
            leave(subject, limits);
        }
    }

    private List<Limit> limits() {
        if (annotation.limit().equals(Quota.LIMIT) && caller != null) {
            List<Limit> restricting = caller.quota().stream()
                    .filter(limit -> limit.capacity() != Limit.UNRESTRICTED)
                    .toList();
            if (restricting.isEmpty()) {
                throw invalid("the tier '" + caller.tier() + "' has no quota; set ratelimit.tiers.quotas."
                        + caller.tier() + ", or add @WithTier with another tier");
            }
            return restricting;
        }
        Limits limits = context.getBean(Limits.class);
        Limit limit = caller == null ? limits.find(annotation.limit()) : limits.find(annotation.limit(), caller.tier());
        if (limit == null) {
            throw invalid("there is no such limit; write one of " + String.join(", ", new TreeSet<>(limits.names())));
        }
        return List.of(limit);
    }

    private Set<Subject> subjects() {
        Subjects clients =
                context.getBeanProvider(Subjects.class).getIfAvailable(() -> new Subjects(Subjects.WHOLE_ADDRESS));
        if (!annotation.subject().isEmpty()) {
            return Set.of(clients.counted(subject(annotation.subject())));
        }
        Set<Subject> subjects = new LinkedHashSet<>();
        String user = caller == null ? userWithoutRules() : caller.user();
        if (user != null) {
            subjects.add(Subject.user(user));
        }
        ApiKey key = caller == null ? null : caller.apiKey();
        if (key != null) {
            subjects.add(key.subject());
        }
        for (String written : annotation.address().isEmpty() ? THIS_MACHINE : List.of(annotation.address())) {
            IpAddress address = address(written);
            Subject client = clients.ofAddress(address);
            subjects.add(client);
            subjects.add(clients.ofUserAndAddress(user == null ? client : Subject.user(user), address));
            if (isOfLogins()) {
                addLogin(subjects, clients.client(address), user);
            }
        }
        return subjects;
    }

    /** Whether failed logins count on the limit: by name, and by name and address. */
    private boolean isOfLogins() {
        return Stream.of("limit", "address-limit", "name-limit")
                .map(property -> context.getEnvironment().getProperty("ratelimit.login." + property))
                .anyMatch(annotation.limit()::equals);
    }

    private void addLogin(Set<Subject> subjects, String client, @Nullable String user) {
        if (user == null) {
            throw invalid("failed logins count on this limit, but by which name is not known; write it, as in"
                    + " @WithRateLimit(limit = \"" + annotation.limit() + "\", user = \"alice\")");
        }
        LoginSubjects login = LoginSubjects.of(client, user);
        Stream.of(login.together(), login.name()).filter(Objects::nonNull).forEach(subjects::add);
    }

    private @Nullable String userWithoutRules() {
        return annotation.user().isEmpty() ? null : annotation.user();
    }

    private Subject subject(String written) {
        try {
            return Subject.ofText(written);
        } catch (IllegalArgumentException e) {
            throw invalid("subject is '" + written + "'; write its type first, as in user:alice, or key:" + written
                    + " for the value of an expression");
        }
    }

    private IpAddress address(String written) {
        IpAddress address = IpAddress.parse(written);
        if (address == null) {
            throw invalid("address is '" + written + "'; write an address such as 203.0.113.7");
        }
        return address;
    }

    private void leave(Subject subject, List<Limit> limits) {
        RateLimiter limiter = context.getBean(RateLimiter.class);
        LimitRequest request = LimitRequest.NONE;
        for (Limit limit : limits) {
            request = request.and(subject, limit);
        }
        long left = limiter.peek(request).remaining();
        if (left < annotation.remaining()) {
            throw invalid("only " + left + " are left to " + subject + "; the limit allows "
                    + limits.get(0).capacity() + " requests. Write a smaller number");
        }
        if (left == annotation.remaining()) {
            return;
        }
        LimitRequest charge = LimitRequest.NONE;
        for (Limit limit : limits) {
            charge = charge.and(subject, limit).cost(left - annotation.remaining());
        }
        // Reserved, so that neither a lease nor a remembered denial answers, and never settled.
        Decision decision = limiter.reserve(charge.recordedByCaller()).decision();
        if (!decision.allowed()) {
            throw invalid(subject + " could not be charged " + (left - annotation.remaining()) + ": "
                    + Objects.toString(decision.outcome()));
        }
    }

    private IllegalStateException invalid(String reason) {
        return new IllegalStateException("@WithRateLimit(limit = \"" + annotation.limit() + "\", remaining = "
                + annotation.remaining() + "): " + reason);
    }
}
