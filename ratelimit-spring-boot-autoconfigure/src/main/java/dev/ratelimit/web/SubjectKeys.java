package dev.ratelimit.web;

import dev.ratelimit.FailurePolicy;
import dev.ratelimit.Limit;
import dev.ratelimit.LimitRequest;
import dev.ratelimit.Subject;
import dev.ratelimit.policy.Action;
import dev.ratelimit.policy.ApiKey;
import dev.ratelimit.policy.Caller;
import dev.ratelimit.policy.InvalidRuleException;
import dev.ratelimit.policy.Policy;
import dev.ratelimit.policy.Quota;
import dev.ratelimit.policy.Rule;
import dev.ratelimit.policy.RuleMatch;
import dev.ratelimit.policy.SubjectKey;
import jakarta.servlet.http.HttpServletRequest;
import jakarta.servlet.http.HttpSession;
import java.nio.charset.StandardCharsets;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.security.Principal;
import java.util.Base64;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.springframework.beans.factory.BeanFactory;
import org.springframework.beans.factory.BeanNotOfRequiredTypeException;
import org.springframework.beans.factory.NoSuchBeanDefinitionException;

/** Says whose count a request belongs to, by the key of a rule. Where a key finds nobody, it is the client's address. */
public final class SubjectKeys {

    private static final Logger log = LoggerFactory.getLogger(SubjectKeys.class);

    private static final String API_KEY_HEADER = "X-API-Key";

    private final ClientAddresses addresses;
    private final RequestExpressions expressions;
    private final BeanFactory beans;

    /** By the key as it is written. */
    private final Map<String, SubjectResolver> resolvers = new ConcurrentHashMap<>();

    public SubjectKeys(ClientAddresses addresses, RequestExpressions expressions, BeanFactory beans) {
        this.addresses = addresses;
        this.expressions = expressions;
        this.beans = beans;
    }

    /** Reads the key of a rule, so that a mistake is found at once. */
    void require(Rule rule) {
        resolvers.computeIfAbsent(rule.key(), key -> resolver(rule));
    }

    /**
     * What the rules ask of the limits, for whom each of them counts. A limit that two rules name for the same subject is
     * asked once, for the rule of higher priority.
     *
     * @param caller who it is, or {@code null} if the rules can do without
     */
    LimitRequest limitsOf(HttpServletRequest request, Policy policy, RuleMatch match, @Nullable Caller caller) {
        LimitRequest limits = LimitRequest.NONE;
        FailurePolicy strictest = null;
        // A quota is the caller's, whatever else the rule that brings it in counts by.
        ApiKey key = caller != null && caller.quotaOfApiKey() ? ApiKeyGate.keyOf(request) : null;
        Subject ofQuota = key != null ? key.subject() : userOrAddress(request);
        for (Rule rule : match.rules()) {
            Subject ofRule = subjectOf(rule, request);
            for (Limit limit : policy.limitsOf(rule, caller)) {
                Subject subject = Quota.isOf(limit) ? ofQuota : ofRule;
                if (rule.action() == Action.SHADOW) {
                    limits = limits.shadow(subject, limit, rule.name());
                } else if (!limits.asks(subject, limit.name())) {
                    limits = limits.and(subject, limit).rule(rule.name());
                    strictest = strictest == null ? rule.onFailure() : strictest.and(rule.onFailure());
                }
            }
        }
        return strictest == null ? limits : limits.onFailure(strictest);
    }

    private Subject subjectOf(Rule rule, HttpServletRequest request) {
        SubjectResolver resolver = resolvers.get(rule.key());
        if (resolver == null) {
            resolver = resolvers.computeIfAbsent(rule.key(), key -> resolver(rule));
        }
        return orAddress(resolver.resolve(request), request);
    }

    private SubjectResolver resolver(Rule rule) {
        SubjectKey key = SubjectKey.parse(rule.name(), rule.key());
        return switch (key.kind()) {
            case USER -> this::user;
            case IP -> this::address;
            case USER_AND_IP -> request -> userOrAddress(request).and("ip", client(request));
            case SESSION -> SubjectKeys::session;
            case API_KEY -> SubjectKeys::apiKey;
            case HEADER -> request -> value("header", key.argument() + "=", request.getHeader(key.argument()));
            case BEAN -> bean(rule, key.argument());
            case EXPRESSION -> expression(rule, key.argument());
        };
    }

    private Subject orAddress(@Nullable Subject subject, HttpServletRequest request) {
        return subject == null ? address(request) : subject;
    }

    /** The text that stands for the client: its address, or the network of its IPv6 address. */
    public String client(HttpServletRequest request) {
        return addresses.clientOf(request);
    }

    /** The client's address as a subject. */
    public Subject address(HttpServletRequest request) {
        return Subject.ip(client(request));
    }

    /** The user, else the owner of the API key, else the client's address. */
    public Subject userOrAddress(HttpServletRequest request) {
        return orAddress(user(request), request);
    }

    private @Nullable Subject user(HttpServletRequest request) {
        Principal principal = request.getUserPrincipal();
        if (principal != null) {
            return value("user", "", principal.getName());
        }
        ApiKey key = ApiKeyGate.keyOf(request);
        return key == null ? null : value("user", "", key.owner());
    }

    private static @Nullable Subject session(HttpServletRequest request) {
        HttpSession session = request.getSession(false);
        return session == null ? null : digest("session", session.getId());
    }

    /** The key that was recognised; where keys are not checked, whatever was sent. */
    private static @Nullable Subject apiKey(HttpServletRequest request) {
        ApiKey known = ApiKeyGate.keyOf(request);
        if (known != null) {
            return known.subject();
        }
        if (ApiKeyGate.hasChecked(request)) {
            return null;
        }
        String sent = request.getHeader(API_KEY_HEADER);
        return sent == null || sent.isBlank() ? null : digest("api-key", sent.strip());
    }

    /** Secrets are counted by their digest: neither a table nor a log ever holds one. */
    private static Subject digest(String type, String secret) {
        try {
            byte[] digest = MessageDigest.getInstance("SHA-256").digest(secret.getBytes(StandardCharsets.UTF_8));
            return Subject.of(type, Base64.getUrlEncoder().withoutPadding().encodeToString(digest));
        } catch (NoSuchAlgorithmException e) {
            throw new IllegalStateException("every Java platform has SHA-256", e);
        }
    }

    private static @Nullable Subject value(String type, String prefix, @Nullable String value) {
        return value == null || value.isBlank() ? null : Subject.of(type, prefix + value.strip());
    }

    private SubjectResolver bean(Rule rule, String name) {
        try {
            return beans.getBean(name, SubjectResolver.class);
        } catch (NoSuchBeanDefinitionException | BeanNotOfRequiredTypeException e) {
            throw new InvalidRuleException(
                    rule.name(),
                    "key",
                    rule.key(),
                    "name a bean of type " + SubjectResolver.class.getName() + " that exists");
        }
    }

    private SubjectResolver expression(Rule rule, String expression) {
        expressions.require(rule, "key", expression);
        return request -> {
            try {
                Object value = expressions.value(expression, request, Object.class);
                return value == null ? null : value("key", "", value.toString());
            } catch (RuntimeException e) {
                log.warn("The key {} failed, and the request counts for its address: {}", expression, e.getMessage());
                return null;
            }
        };
    }
}
