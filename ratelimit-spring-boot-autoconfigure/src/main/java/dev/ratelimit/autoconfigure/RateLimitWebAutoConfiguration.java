package dev.ratelimit.autoconfigure;

import dev.ratelimit.DecisionListener;
import dev.ratelimit.RateLimiter;
import dev.ratelimit.admin.RateLimitAdmin;
import dev.ratelimit.autoconfigure.property.RateLimitProperties;
import dev.ratelimit.caller.Accounts;
import dev.ratelimit.caller.ApiKeys;
import dev.ratelimit.gate.Exemptions;
import dev.ratelimit.gate.Gate;
import dev.ratelimit.gate.Gate.ApiKeyGuesses;
import dev.ratelimit.gate.Subjects;
import dev.ratelimit.policy.AddressRange;
import dev.ratelimit.policy.Policies;
import dev.ratelimit.policy.PolicyConfiguration;
import dev.ratelimit.setting.InvalidPropertyException;
import dev.ratelimit.startup.ActuatorPaths;
import dev.ratelimit.startup.HandlerPaths;
import dev.ratelimit.startup.MvcPaths;
import dev.ratelimit.startup.ProbableMistakes;
import dev.ratelimit.startup.UnknownAuthorities;
import dev.ratelimit.startup.UsersInMemory;
import dev.ratelimit.web.ApiKeySource;
import dev.ratelimit.web.CallContext;
import dev.ratelimit.web.ClientAddresses;
import dev.ratelimit.web.RateLimitHeaders;
import dev.ratelimit.web.expression.Expressions;
import dev.ratelimit.web.servlet.Authorities;
import dev.ratelimit.web.servlet.CallerLimits;
import dev.ratelimit.web.servlet.ExemptPaths;
import dev.ratelimit.web.servlet.ProblemRejectionHandler;
import dev.ratelimit.web.servlet.RateLimitRejectionHandler;
import dev.ratelimit.web.servlet.filter.GateCallerLimits;
import dev.ratelimit.web.servlet.filter.OriginalConnectionCustomizer;
import dev.ratelimit.web.servlet.filter.RateLimitExceptionResolver;
import dev.ratelimit.web.servlet.filter.RateLimitFilter;
import dev.ratelimit.web.servlet.filter.RateLimitFilter.Phase;
import dev.ratelimit.web.servlet.filter.RejectionWriter;
import dev.ratelimit.web.servlet.filter.RolePrefix;
import dev.ratelimit.web.servlet.filter.ServletCallContext;
import dev.ratelimit.web.servlet.filter.ServletGate;
import dev.ratelimit.web.servlet.filter.ServletRequests;
import dev.ratelimit.web.servlet.filter.ServletRequests.ApiKeyReader;
import jakarta.servlet.DispatcherType;
import jakarta.servlet.Filter;
import java.time.InstantSource;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.stream.Collectors;
import org.eclipse.jetty.server.Server;
import org.jspecify.annotations.Nullable;
import org.springframework.beans.factory.BeanFactory;
import org.springframework.beans.factory.ObjectProvider;
import org.springframework.beans.factory.annotation.Qualifier;
import org.springframework.beans.factory.config.ConfigurableListableBeanFactory;
import org.springframework.boot.actuate.autoconfigure.web.server.ManagementPortType;
import org.springframework.boot.actuate.endpoint.web.PathMappedEndpoints;
import org.springframework.boot.autoconfigure.AutoConfiguration;
import org.springframework.boot.autoconfigure.condition.ConditionalOnClass;
import org.springframework.boot.autoconfigure.condition.ConditionalOnMissingBean;
import org.springframework.boot.autoconfigure.condition.ConditionalOnWebApplication;
import org.springframework.boot.jetty.ConfigurableJettyWebServerFactory;
import org.springframework.boot.tomcat.ConfigurableTomcatWebServerFactory;
import org.springframework.boot.web.server.WebServerFactoryCustomizer;
import org.springframework.boot.web.servlet.FilterRegistrationBean;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.core.env.Environment;
import org.springframework.security.core.Authentication;
import org.springframework.security.core.GrantedAuthority;
import org.springframework.security.core.context.SecurityContextHolder;
import org.springframework.web.context.WebApplicationContext;
import org.springframework.web.servlet.HandlerExceptionResolver;
import org.springframework.web.util.pattern.PathPatternParser;

/** The filters, and the context of annotated calls in a web request. */
@AutoConfiguration(after = RateLimitAutoConfiguration.class)
@ConditionalOnWebApplication(type = ConditionalOnWebApplication.Type.SERVLET)
@ConditionalOnClass({Filter.class, HandlerExceptionResolver.class})
public final class RateLimitWebAutoConfiguration {

    private static final String OUR_AUTHORITIES = "rateLimitAuthorities";

    @Bean
    @ConditionalOnMissingBean
    ClientAddresses rateLimitClientAddresses(RateLimitProperties properties) {
        return new ClientAddresses(
                trustedProxies(properties), properties.identity().forwardedHeader());
    }

    private static List<AddressRange> trustedProxies(RateLimitProperties properties) {
        String property = "ratelimit.identity.trusted-proxies";
        List<String> written = properties.identity().trustedProxies();
        List<AddressRange> ranges = ranges(property, written);
        for (int i = 0; i < ranges.size(); i++) {
            if (ranges.get(i).isOfTheInternet()) {
                throw new InvalidPropertyException(
                        property,
                        written.get(i),
                        "write only the addresses of your proxies, such as 10.0.0.0/8: a client in this range could forge"
                                + " its address");
            }
        }
        return ranges;
    }

    private static List<AddressRange> ranges(String property, List<String> written) {
        return written.stream()
                .map(range -> InvalidPropertyException.at(property, () -> AddressRange.parse(range)))
                .toList();
    }

    @Bean
    @ConditionalOnMissingBean
    Subjects rateLimitSubjects(RateLimitProperties properties) {
        return properties.identity().subjects();
    }

    @Bean
    @ConditionalOnMissingBean
    Exemptions rateLimitExemptions(
            RateLimitProperties properties,
            BeanFactory beans,
            ObjectProvider<ActuatorPaths> actuator,
            ObjectProvider<ExemptPaths> others) {
        RateLimitProperties.Exempt exempt = properties.exempt();
        List<AddressRange> ranges = ranges("ratelimit.exempt.addresses", exempt.addresses());
        List<AddressRange> proxies = trustedProxies(properties);
        PathPatternParser parser = MvcPaths.parser(beans);
        // Only these are written by the user, and checked at once.
        Exemptions unused = InvalidPropertyException.at(
                "ratelimit.exempt.paths",
                () -> new Exemptions(exempt.authorities(), ranges, proxies, exempt.paths(), parser));
        ActuatorPaths endpoints = exempt.actuator() ? actuator.getIfAvailable() : null;
        return new Exemptions(
                exempt.authorities(),
                ranges,
                proxies,
                () -> {
                    List<String> paths =
                            new ArrayList<>(endpoints == null ? exempt.paths() : endpoints.and(exempt.paths()));
                    others.orderedStream().forEach(other -> paths.addAll(other.patterns()));
                    return paths;
                },
                parser);
    }

    @Configuration(proxyBeanMethods = false)
    @ConditionalOnClass({PathMappedEndpoints.class, ManagementPortType.class})
    static class ActuatorConfiguration {

        @Bean
        @ConditionalOnMissingBean
        ActuatorPaths rateLimitActuatorPaths(ObjectProvider<PathMappedEndpoints> endpoints, Environment environment) {
            return new ActuatorPaths(endpoints, environment);
        }
    }

    @Bean
    @ConditionalOnMissingBean
    Gate rateLimitGate(
            Policies policies,
            ObjectProvider<Accounts> accounts,
            Exemptions exemptions,
            Subjects subjects,
            RateLimitProperties properties,
            RateLimiter limiter,
            @Qualifier(RateLimitClocks.BEAN) ObjectProvider<InstantSource> clock) {
        RateLimitProperties.ApiKeysSpec apiKeys = properties.apiKeys();
        ApiKeyGuesses guesses = !apiKeys.enabled()
                ? null
                : InvalidPropertyException.under(
                        "ratelimit.api-keys.",
                        () -> new ApiKeyGuesses(
                                ApiKeys.guessing("api-key-guesses", apiKeys.guesses()), limiter::remembered));
        return new Gate(
                policies,
                accounts.getIfAvailable(() -> Accounts.NONE),
                exemptions,
                subjects,
                guesses,
                clock.getIfAvailable(InstantSource::system));
    }

    /** Reads requests; finds mistakes in the configured rules that only show here. */
    @Bean
    @ConditionalOnMissingBean
    ServletRequests rateLimitServletRequests(
            ClientAddresses addresses,
            Subjects subjects,
            ObjectProvider<Authorities> authorities,
            ObjectProvider<ApiKeys> keys,
            Policies policies,
            PolicyConfiguration configuration,
            RateLimitProperties properties,
            BeanFactory beans) {
        ServletRequests requests = new ServletRequests(
                addresses,
                subjects,
                RolePrefix.watching(
                        authorities.getIfAvailable(() -> request -> Set.of()),
                        namedAuthorities(configuration, properties).values().stream()
                                .flatMap(Set::stream)
                                .toList()),
                new Expressions(beans),
                beans,
                keyReader(properties, keys));
        requests.require(policies.current().rules().rules());
        return requests;
    }

    private static @Nullable ApiKeyReader keyReader(RateLimitProperties properties, ObjectProvider<ApiKeys> keys) {
        ApiKeySource source = apiKeySource(properties);
        return source == null
                ? null
                : new ApiKeyReader(source, keys.getIfAvailable(() -> {
                    throw new InvalidPropertyException(
                            "ratelimit.api-keys.enabled",
                            "true",
                            "set ratelimit.policy.store to sqlite or postgresql, where keys are stored, with"
                                    + " ratelimit.changes.enabled and spring-jdbc; or define a bean of type "
                                    + ApiKeys.class.getName());
                }));
    }

    private static @Nullable ApiKeySource apiKeySource(RateLimitProperties properties) {
        RateLimitProperties.ApiKeysSpec apiKeys = properties.apiKeys();
        return apiKeys.enabled() ? new ApiKeySource(apiKeys.header(), apiKeys.bearer()) : null;
    }

    @Bean
    @ConditionalOnMissingBean
    RateLimitHeaders rateLimitHeaders(RateLimitProperties properties) {
        return new RateLimitHeaders(
                properties.headers().legacy(), properties.headers().standard());
    }

    @Bean
    @ConditionalOnMissingBean
    RateLimitRejectionHandler rateLimitRejectionHandler() {
        return new ProblemRejectionHandler();
    }

    @Bean
    @ConditionalOnMissingBean
    RejectionWriter rateLimitRejectionWriter(
            RateLimitHeaders headers, RateLimitRejectionHandler handler, RateLimitProperties properties) {
        return new RejectionWriter(headers, handler, apiKeySource(properties));
    }

    @Bean
    @ConditionalOnMissingBean
    RateLimitExceptionResolver rateLimitExceptionResolver(RejectionWriter rejections) {
        return new RateLimitExceptionResolver(rejections);
    }

    @Bean
    @ConditionalOnMissingBean
    ServletGate rateLimitServletGate(
            Gate gate,
            ServletRequests requests,
            RateLimiter limiter,
            RejectionWriter rejections,
            ObjectProvider<DecisionListener> listeners) {
        return new ServletGate(
                gate, requests, limiter, rejections, listeners.orderedStream().toList());
    }

    @Bean
    @ConditionalOnMissingBean
    CallerLimits rateLimitCallerLimits(
            ServletGate gate, @Qualifier(RateLimitClocks.BEAN) ObjectProvider<InstantSource> clock) {
        return new GateCallerLimits(gate, clock.getIfAvailable(InstantSource::system));
    }

    @Bean
    @ConditionalOnMissingBean(name = "rateLimitFilterBeforeAuthentication")
    FilterRegistrationBean<RateLimitFilter> rateLimitFilterBeforeAuthentication(
            ServletGate gate, RateLimitProperties properties) {
        return registration(
                Phase.BEFORE_AUTHENTICATION, gate, properties.filter().orderBeforeAuthentication());
    }

    @Bean
    @ConditionalOnMissingBean(name = "rateLimitFilterAfterAuthentication")
    FilterRegistrationBean<RateLimitFilter> rateLimitFilterAfterAuthentication(
            ServletGate gate, RateLimitProperties properties) {
        return registration(
                Phase.AFTER_AUTHENTICATION, gate, properties.filter().orderAfterAuthentication());
    }

    private static FilterRegistrationBean<RateLimitFilter> registration(Phase phase, ServletGate gate, int order) {
        FilterRegistrationBean<RateLimitFilter> registration =
                new FilterRegistrationBean<>(new RateLimitFilter(phase, gate));
        // A filter of the application that comes before may forward the request.
        registration.setDispatcherTypes(DispatcherType.REQUEST, DispatcherType.FORWARD);
        registration.setOrder(order);
        registration.setName("rateLimitFilter." + phase);
        return registration;
    }

    @Bean
    @ConditionalOnMissingBean
    CallContext.Source rateLimitCallContexts(ServletGate gate) {
        return ServletCallContext.source(gate);
    }

    @Bean
    @ConditionalOnMissingBean(name = "rateLimitUnmatchedRules")
    ProbableMistakes.Finder rateLimitUnmatchedRules(
            PolicyConfiguration configuration,
            RateLimitProperties properties,
            WebApplicationContext context,
            ObjectProvider<RateLimitAdmin> admin) {
        // The application may have keys of its own, which nobody can list.
        RateLimitAdmin ofOurKeys = context.containsBean("rateLimitApiKeys") ? admin.getIfAvailable() : null;
        return new UnmatchedRules(configuration, properties, new HandlerPaths(context), ofOurKeys);
    }

    @Bean
    @ConditionalOnMissingBean(name = "rateLimitExemptProxies")
    ProbableMistakes.Finder rateLimitExemptProxies(RateLimitProperties properties) {
        List<AddressRange> proxies = trustedProxies(properties);
        return () -> properties.exempt().addresses().stream()
                .filter(written -> proxies.stream().anyMatch(proxy -> proxy.contains(AddressRange.parse(written))))
                .map(written -> "ratelimit.exempt.addresses has " + written
                        + ", which ratelimit.identity.trusted-proxies has, too: proxies are never exempt")
                .toList();
    }

    @Bean
    @ConditionalOnMissingBean(name = "rateLimitUnknownAuthorities")
    ProbableMistakes.Finder rateLimitUnknownAuthorities(
            PolicyConfiguration configuration,
            RateLimitProperties properties,
            ObjectProvider<Authorities> authorities,
            ConfigurableListableBeanFactory beans) {
        Map<String, Set<String>> named = namedAuthorities(configuration, properties);
        if (authorities.getIfAvailable() == null) {
            return new UnknownAuthorities(named, null);
        }
        // The application may find authorities in ways of its own.
        return new UnknownAuthorities(
                named, () -> beans.containsBean(OUR_AUTHORITIES) ? UsersInMemory.authorities(beans) : null);
    }

    /** The authorities in the configuration, by the words that precede them in a message. */
    private static Map<String, Set<String>> namedAuthorities(
            PolicyConfiguration configuration, RateLimitProperties properties) {
        Map<String, Set<String>> named = new LinkedHashMap<>();
        configuration
                .rules()
                .forEach(rule -> named.put(
                        "rule '" + rule.name() + "' is for", rule.conditions().authorities()));
        named.put("ratelimit.exempt.authorities is", properties.exempt().authorities());
        named.put(
                "ratelimit.tiers.authorities has",
                properties.tiers().authorities().keySet());
        return named;
    }

    @Configuration(proxyBeanMethods = false)
    @ConditionalOnClass(SecurityContextHolder.class)
    static class SecurityConfiguration {

        @Bean(OUR_AUTHORITIES)
        @ConditionalOnMissingBean
        Authorities rateLimitAuthorities() {
            return request -> {
                Authentication user = SecurityContextHolder.getContext().getAuthentication();
                return user == null || !user.isAuthenticated()
                        ? Set.of()
                        : user.getAuthorities().stream()
                                .map(GrantedAuthority::getAuthority)
                                .collect(Collectors.toSet());
            };
        }
    }

    @Configuration(proxyBeanMethods = false)
    @ConditionalOnClass(ConfigurableTomcatWebServerFactory.class)
    static class TomcatConfiguration {

        @Bean
        @ConditionalOnMissingBean(name = "rateLimitOriginalTomcatConnection")
        OriginalTomcatConnection rateLimitOriginalTomcatConnection() {
            return new OriginalTomcatConnection();
        }
    }

    @Configuration(proxyBeanMethods = false)
    @ConditionalOnClass({ConfigurableJettyWebServerFactory.class, Server.class})
    static class JettyConfiguration {

        @Bean
        @ConditionalOnMissingBean(name = "rateLimitOriginalJettyConnection")
        WebServerFactoryCustomizer<ConfigurableJettyWebServerFactory> rateLimitOriginalJettyConnection() {
            return factory -> factory.addServerCustomizers(OriginalConnectionCustomizer::addTo);
        }
    }
}
