package dev.ratelimit.web.servlet.filter;

import dev.ratelimit.IpAddress;
import dev.ratelimit.Subject;
import dev.ratelimit.caller.ApiKey;
import dev.ratelimit.caller.ApiKeys;
import dev.ratelimit.gate.Arrival;
import dev.ratelimit.gate.Identity;
import dev.ratelimit.gate.LiveRequest;
import dev.ratelimit.gate.Subjects;
import dev.ratelimit.policy.Action;
import dev.ratelimit.policy.InvalidRuleException;
import dev.ratelimit.policy.PathReadings;
import dev.ratelimit.policy.Rule;
import dev.ratelimit.policy.SubjectKey;
import dev.ratelimit.policy.SubjectKey.Kind;
import dev.ratelimit.support.LogText;
import dev.ratelimit.support.OncePerMinute;
import dev.ratelimit.web.ApiKeySource;
import dev.ratelimit.web.ClientAddresses;
import dev.ratelimit.web.ClientAddresses.Connection;
import dev.ratelimit.web.expression.ExpressionProperties;
import dev.ratelimit.web.expression.ExpressionProperties.Variable;
import dev.ratelimit.web.expression.ExpressionTree;
import dev.ratelimit.web.expression.Expressions;
import dev.ratelimit.web.servlet.Authorities;
import dev.ratelimit.web.servlet.SubjectResolver;
import jakarta.servlet.ServletRequest;
import jakarta.servlet.http.HttpServletRequest;
import jakarta.servlet.http.HttpServletRequestWrapper;
import jakarta.servlet.http.HttpSession;
import java.security.Principal;
import java.util.Collections;
import java.util.Enumeration;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.springframework.beans.factory.BeanFactory;
import org.springframework.beans.factory.BeanNotOfRequiredTypeException;
import org.springframework.beans.factory.NoSuchBeanDefinitionException;
import org.springframework.expression.ParseException;
import org.springframework.web.cors.CorsUtils;

/** Reads servlet requests for the gate: the client, the path, the API key, the user, and the answers of beans and expressions. */
public final class ServletRequests {

    private static final Logger log = LoggerFactory.getLogger(ServletRequests.class);

    /** Where a listener on the connection leaves it as it was before the container read the headers. */
    private static final String CONNECTION = ServletRequests.class.getName() + ".CONNECTION";

    private static final Set<String> VARIABLES = Set.of("#request", "#principal", "#client", "#root", "#this");
    private static final String KNOWN = "#request, #principal, #client or a bean";

    private static final Map<String, List<Variable>> TYPES = Map.of(
            "#request", List.of(Variable.of(HttpServletRequest.class)),
            "#principal", List.of(Variable.of(Principal.class)),
            "#client", List.of(Variable.of(String.class)));

    /**
     * How API keys are read.
     *
     * @param keys recognises them
     */
    public record ApiKeyReader(ApiKeySource source, ApiKeys keys) {}

    private static final String IN_QUOTES =
            "write the expression in quotes, since # begins a comment in YAML; or leave this out";

    private final ClientAddresses addresses;
    private final Subjects subjects;
    private final Authorities authorities;
    private final Expressions expressions;
    private final BeanFactory beans;
    private final @Nullable ApiKeyReader apiKeys;

    private final OncePerMinute failures = new OncePerMinute();
    private final Map<SubjectKey, SubjectResolver> resolvers = new ConcurrentHashMap<>();

    /**
     * @param apiKeys how API keys are read, or {@code null} if they are not
     */
    public ServletRequests(
            ClientAddresses addresses,
            Subjects subjects,
            Authorities authorities,
            Expressions expressions,
            BeanFactory beans,
            @Nullable ApiKeyReader apiKeys) {
        this.addresses = addresses;
        this.subjects = subjects;
        this.authorities = authorities;
        this.expressions = expressions;
        this.beans = beans;
        this.apiKeys = apiKeys;
    }

    /** Finds mistakes in rules that only show here: in their expressions, and beans that do not exist. */
    public void require(Iterable<Rule> rules) {
        for (Rule rule : rules) {
            SubjectKey key = SubjectKey.parse(rule.name(), rule.key());
            if (key.kind() == Kind.BEAN || key.kind() == Kind.EXPRESSION) {
                resolvers.computeIfAbsent(key, written -> resolver(rule.name(), key));
            }
            String condition = rule.conditions().expression();
            if (condition != null) {
                require(rule.name(), "condition", condition);
            }
        }
    }

    private void require(String rule, String property, String expression) {
        if (expression.isBlank()) {
            throw new InvalidRuleException(rule, property, expression, IN_QUOTES);
        }
        ExpressionTree tree;
        try {
            tree = new ExpressionTree(Expressions.parse(expression));
        } catch (ParseException e) {
            throw new InvalidRuleException(rule, property, expression, Expressions.advice(e));
        }
        refuse(rule, property, expression, tree.assignment());
        refuse(rule, property, expression, tree.bareClass());
        String bare = tree.bareWord(Set.of());
        if (bare != null) {
            throw new InvalidRuleException(
                    rule, property, expression, "write " + KNOWN + " instead of " + bare + "; a text stands in quotes");
        }
        for (String variable : tree.variables()) {
            if (!VARIABLES.contains(variable)) {
                throw new InvalidRuleException(
                        rule, property, expression, "write " + KNOWN + " instead of " + variable);
            }
        }
        String advice = ExpressionProperties.mistake(
                tree, property.equals("condition"), variable -> TYPES.getOrDefault(variable, List.of()));
        refuse(rule, property, expression, advice);
        refuse(rule, property, expression, tree.missingBean(beans::containsBean));
    }

    private static void refuse(String rule, String property, String expression, @Nullable String advice) {
        if (advice != null) {
            throw new InvalidRuleException(rule, property, expression, advice);
        }
    }

    /** The request as the gate asks it for more. */
    Live live(HttpServletRequest request) {
        return new Live(request);
    }

    Arrival arrival(HttpServletRequest request, PathReadings path, Live live) {
        String secret = apiKeys == null ? null : apiKeys.source().secretOf(request::getHeader);
        ApiKeys keys = apiKeys == null ? null : apiKeys.keys();
        Supplier<@Nullable ApiKey> apiKey = secret == null || keys == null ? null : () -> keys.recognise(secret);
        return new Arrival(
                request.getMethod(), CorsUtils.isPreFlightRequest(request), path, addressOf(request), apiKey, live);
    }

    /**
     * As if the request were of that method and path.
     *
     * @param apiKey as in {@link Arrival}
     */
    Arrival arrival(
            HttpServletRequest request, String method, PathReadings path, @Nullable Supplier<@Nullable ApiKey> apiKey) {
        return new Arrival(method, false, path, addressOf(request), apiKey, live(request));
    }

    Identity identity(HttpServletRequest request) {
        Principal principal = request.getUserPrincipal();
        return new Identity(principal == null ? null : principal.getName(), authorities.of(request));
    }

    @Nullable
    IpAddress addressOf(HttpServletRequest request) {
        return addresses.addressOf(connectionOf(request));
    }

    String clientOf(HttpServletRequest request) {
        return subjects.client(addressOf(request));
    }

    /** Keeps the connection as it is now, before anything replaces the address or the headers. */
    static void keepConnection(ServletRequest request, Connection connection) {
        request.setAttribute(CONNECTION, connection);
    }

    /** The name of the attribute, for containers that set it before there is a servlet request. */
    static String connectionAttribute() {
        return CONNECTION;
    }

    private static Connection connectionOf(HttpServletRequest request) {
        if (request.getAttribute(CONNECTION) instanceof Connection kept) {
            return kept;
        }
        HttpServletRequest bare = request;
        while (bare instanceof HttpServletRequestWrapper wrapper) {
            ServletRequest wrapped = wrapper.getRequest();
            if (!(wrapped instanceof HttpServletRequest http)) {
                break;
            }
            bare = http;
        }
        return connectionOf(bare.getRemoteAddr(), bare);
    }

    static Connection connectionOf(@Nullable String peer, HttpServletRequest request) {
        return new Connection(
                peer,
                lines(request, ClientAddresses.X_FORWARDED_FOR),
                lines(request, ClientAddresses.FORWARDED),
                request.getHeader(ClientAddresses.X_REAL_IP) != null);
    }

    private static List<String> lines(HttpServletRequest request, String header) {
        Enumeration<String> lines = request.getHeaders(header);
        return lines.hasMoreElements() ? Collections.list(lines) : List.of();
    }

    private SubjectResolver resolver(String rule, SubjectKey key) {
        return key.kind() == Kind.BEAN ? bean(rule, key.argument()) : expression(rule, key.argument());
    }

    private SubjectResolver bean(String rule, String name) {
        try {
            return beans.getBean(name, SubjectResolver.class);
        } catch (NoSuchBeanDefinitionException | BeanNotOfRequiredTypeException e) {
            throw new InvalidRuleException(
                    rule,
                    "key",
                    "bean:" + name,
                    "name a bean of type " + SubjectResolver.class.getName() + " that exists");
        }
    }

    private SubjectResolver expression(String rule, String expression) {
        require(rule, "key", expression);
        return request -> {
            Object value = value(expression, request, Object.class);
            return value == null || value.toString().isBlank()
                    ? null
                    : Subject.of("key", value.toString().strip());
        };
    }

    private <T> @Nullable T value(String expression, HttpServletRequest request, Class<T> type) {
        return expressions.value(expression, request, request.getUserPrincipal(), clientOf(request), type);
    }

    /** A request that is being served. */
    final class Live implements LiveRequest {

        private HttpServletRequest request;

        private Live(HttpServletRequest request) {
            this.request = request;
        }

        /** Authentication wraps the request: only the wrapper knows the user. */
        void identified(HttpServletRequest wrapped) {
            request = wrapped;
        }

        @Override
        public @Nullable String header(String name) {
            return request.getHeader(name);
        }

        @Override
        public @Nullable String sessionId() {
            HttpSession session = request.getSession(false);
            return session == null ? null : session.getId();
        }

        /** A bean or an expression that fails finds nobody, so that the request counts by its address. */
        @Override
        public @Nullable Subject resolve(String rule, SubjectKey key) {
            try {
                SubjectResolver resolver = resolvers.get(key);
                if (resolver == null) {
                    resolver = resolvers.computeIfAbsent(key, written -> resolver(rule, key));
                }
                return resolver.resolve(request);
            } catch (RuntimeException e) {
                if (failures.mayTell(rule + " " + key)) {
                    log.warn(
                            "The key {} of {} failed; counting the request by its address (logged once a minute at most):"
                                    + " {}",
                            key.kind() == Kind.BEAN ? "bean:" + key.argument() : key.argument(),
                            rule,
                            LogText.of(e.getMessage()));
                }
                return null;
            }
        }

        /**
         * A condition that fails is false for a rule that allows or blocks, and true for one that counts: so it neither opens a
         * way around the limits, nor shuts everybody out.
         */
        @Override
        public boolean isTrue(Rule rule) {
            String condition = rule.conditions().expression();
            if (condition == null) {
                return true;
            }
            try {
                return Boolean.TRUE.equals(value(condition, request, Boolean.class));
            } catch (RuntimeException e) {
                boolean counts = rule.action() == Action.THROTTLE || rule.action() == Action.SHADOW;
                if (failures.mayTell(rule.name())) {
                    log.warn(
                            "Condition of rule '{}' failed; treating it as {} (logged once a minute at most): {}",
                            rule.name(),
                            counts,
                            LogText.of(e.getMessage()));
                }
                return counts;
            }
        }
    }
}
