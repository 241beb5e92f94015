package dev.ratelimit.autoconfigure;

import dev.ratelimit.RateLimiter;
import dev.ratelimit.annotation.CallContext;
import dev.ratelimit.annotation.ServletCallContext;
import dev.ratelimit.policy.Accounts;
import dev.ratelimit.policy.AddressRange;
import dev.ratelimit.policy.ApiKeys;
import dev.ratelimit.policy.Policies;
import dev.ratelimit.web.ApiKeyGate;
import dev.ratelimit.web.Authorities;
import dev.ratelimit.web.CallerLimits;
import dev.ratelimit.web.Callers;
import dev.ratelimit.web.ClientAddresses;
import dev.ratelimit.web.Exemptions;
import dev.ratelimit.web.OriginalConnectionCustomizer;
import dev.ratelimit.web.OriginalConnectionValve;
import dev.ratelimit.web.ProblemRejectionHandler;
import dev.ratelimit.web.RateLimitExceptionResolver;
import dev.ratelimit.web.RateLimitFilter;
import dev.ratelimit.web.RateLimitFilter.Phase;
import dev.ratelimit.web.RateLimitHeaders;
import dev.ratelimit.web.RateLimitRejectionHandler;
import dev.ratelimit.web.RequestExpressions;
import dev.ratelimit.web.SubjectKeys;
import jakarta.servlet.DispatcherType;
import jakarta.servlet.Filter;
import java.time.InstantSource;
import java.util.List;
import java.util.Set;
import java.util.stream.Collectors;
import org.eclipse.jetty.server.Server;
import org.springframework.beans.factory.BeanFactory;
import org.springframework.beans.factory.ObjectProvider;
import org.springframework.boot.autoconfigure.AutoConfiguration;
import org.springframework.boot.autoconfigure.condition.ConditionalOnClass;
import org.springframework.boot.autoconfigure.condition.ConditionalOnMissingBean;
import org.springframework.boot.autoconfigure.condition.ConditionalOnProperty;
import org.springframework.boot.autoconfigure.condition.ConditionalOnWebApplication;
import org.springframework.boot.jetty.ConfigurableJettyWebServerFactory;
import org.springframework.boot.tomcat.ConfigurableTomcatWebServerFactory;
import org.springframework.boot.web.server.WebServerFactoryCustomizer;
import org.springframework.boot.web.servlet.FilterRegistrationBean;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.core.Ordered;
import org.springframework.core.annotation.Order;
import org.springframework.security.core.Authentication;
import org.springframework.security.core.GrantedAuthority;
import org.springframework.security.core.context.SecurityContextHolder;
import org.springframework.web.servlet.HandlerExceptionResolver;

/** The filters, and what the annotation needs to know of a web request. */
@AutoConfiguration(after = RateLimitAutoConfiguration.class)
@ConditionalOnWebApplication(type = ConditionalOnWebApplication.Type.SERVLET)
@ConditionalOnClass({Filter.class, HandlerExceptionResolver.class})
@ConditionalOnProperty(name = "ratelimit.enabled", matchIfMissing = true)
public final class RateLimitWebAutoConfiguration {

    @Bean
    @ConditionalOnMissingBean
    ClientAddresses rateLimitClientAddresses(RateLimitProperties properties) {
        List<AddressRange> proxies = ranges(
                "ratelimit.identity.trusted-proxies", properties.identity().trustedProxies());
        return InvalidPropertyException.under(
                "ratelimit.identity.",
                () -> new ClientAddresses(proxies, properties.identity().ipv6Prefix()));
    }

    private static List<AddressRange> ranges(String property, List<String> written) {
        return written.stream()
                .map(range -> InvalidPropertyException.at(property, () -> AddressRange.parse(range)))
                .toList();
    }

    @Bean
    @ConditionalOnMissingBean
    RequestExpressions rateLimitRequestExpressions(ClientAddresses addresses, BeanFactory beans) {
        return new RequestExpressions(addresses, beans);
    }

    @Bean
    @ConditionalOnMissingBean
    SubjectKeys rateLimitSubjectKeys(ClientAddresses addresses, RequestExpressions expressions, BeanFactory beans) {
        return new SubjectKeys(addresses, expressions, beans);
    }

    @Bean
    @ConditionalOnMissingBean
    Callers rateLimitCallers(
            Policies policies, ObjectProvider<Accounts> accounts, ObjectProvider<Authorities> authorities) {
        return new Callers(
                policies,
                accounts.getIfAvailable(() -> Accounts.NONE),
                authorities.getIfAvailable(() -> request -> Set.of()),
                InstantSource.system());
    }

    @Bean
    @ConditionalOnMissingBean
    @ConditionalOnProperty(name = "ratelimit.api-keys.enabled")
    ApiKeyGate rateLimitApiKeyGate(
            RateLimitProperties properties, ObjectProvider<ApiKeys> keys, RateLimiter limiter, SubjectKeys subjects) {
        RateLimitProperties.ApiKeysSpec settings = properties.apiKeys();
        ApiKeys known = keys.getIfAvailable(() -> {
            throw new InvalidPropertyException(
                    "ratelimit.api-keys.enabled",
                    "true",
                    "keep state in SQLite or PostgreSQL, where keys are stored, with ratelimit.changes.enabled and"
                            + " spring-data-jdbc; or define a bean of type " + ApiKeys.class.getName());
        });
        return InvalidPropertyException.under(
                "ratelimit.api-keys.",
                () -> new ApiKeyGate(
                        new ApiKeyGate.Source(settings.header(), settings.bearer()),
                        known,
                        limiter,
                        settings.guesses(),
                        subjects));
    }

    @Bean
    @ConditionalOnMissingBean
    Exemptions rateLimitExemptions(
            RateLimitProperties properties,
            ClientAddresses addresses,
            ObjectProvider<Authorities> authorities,
            BeanFactory beans) {
        RateLimitProperties.Exempt exempt = properties.exempt();
        List<AddressRange> ranges = ranges("ratelimit.exempt.addresses", exempt.addresses());
        return InvalidPropertyException.at(
                "ratelimit.exempt.paths",
                () -> new Exemptions(
                        exempt.authorities(),
                        ranges,
                        exempt.paths(),
                        MvcPaths.parser(beans),
                        addresses,
                        authorities.getIfAvailable(() -> request -> Set.of())));
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
    RateLimitExceptionResolver rateLimitExceptionResolver(
            RateLimitHeaders headers, RateLimitRejectionHandler rejection) {
        return new RateLimitExceptionResolver(headers, rejection);
    }

    @Bean
    @ConditionalOnMissingBean
    CallerLimits rateLimitCallerLimits(
            Policies policies,
            Callers callers,
            ClientAddresses addresses,
            SubjectKeys keys,
            RequestExpressions expressions,
            Exemptions exemptions,
            RateLimiter limiter) {
        return new CallerLimits(policies, callers, addresses, keys, expressions, exemptions, limiter);
    }

    @Bean
    @ConditionalOnMissingBean
    RateLimitFilter.Parts rateLimitFilterParts(
            Policies policies,
            ClientAddresses addresses,
            SubjectKeys keys,
            RequestExpressions expressions,
            Callers callers,
            ObjectProvider<ApiKeyGate> apiKeys,
            RateLimiter limiter,
            Exemptions exemptions,
            RateLimitHeaders headers,
            RateLimitRejectionHandler rejection) {
        return new RateLimitFilter.Parts(
                policies,
                addresses,
                keys,
                expressions,
                callers,
                apiKeys.getIfAvailable(),
                limiter,
                exemptions,
                headers,
                rejection);
    }

    @Bean
    @ConditionalOnMissingBean(name = "rateLimitFilterBeforeAuthentication")
    FilterRegistrationBean<RateLimitFilter> rateLimitFilterBeforeAuthentication(
            RateLimitFilter.Parts parts, RateLimitProperties properties) {
        return registration(
                Phase.BEFORE_AUTHENTICATION, parts, properties.filter().orderBeforeAuthentication());
    }

    @Bean
    @ConditionalOnMissingBean(name = "rateLimitFilterAfterAuthentication")
    FilterRegistrationBean<RateLimitFilter> rateLimitFilterAfterAuthentication(
            RateLimitFilter.Parts parts, RateLimitProperties properties) {
        return registration(
                Phase.AFTER_AUTHENTICATION, parts, properties.filter().orderAfterAuthentication());
    }

    private static FilterRegistrationBean<RateLimitFilter> registration(
            Phase phase, RateLimitFilter.Parts parts, int order) {
        FilterRegistrationBean<RateLimitFilter> registration =
                new FilterRegistrationBean<>(new RateLimitFilter(phase, parts));
        registration.setDispatcherTypes(DispatcherType.REQUEST);
        registration.setOrder(order);
        registration.setName("rateLimitFilter." + phase);
        return registration;
    }

    @Bean
    @ConditionalOnMissingBean
    CallContext.Source rateLimitCallContexts(
            SubjectKeys keys, Callers callers, Exemptions exemptions, RateLimitHeaders headers) {
        return ServletCallContext.source(keys, callers, exemptions, headers);
    }

    @Configuration(proxyBeanMethods = false)
    @ConditionalOnClass(SecurityContextHolder.class)
    static class SecurityConfiguration {

        @Bean
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

        /** Before Tomcat's own valves are added, so that ours sees the connection first. */
        @Bean
        @Order(Ordered.HIGHEST_PRECEDENCE)
        @ConditionalOnMissingBean(name = "rateLimitOriginalTomcatConnection")
        WebServerFactoryCustomizer<ConfigurableTomcatWebServerFactory> rateLimitOriginalTomcatConnection() {
            return factory -> factory.addEngineValves(new OriginalConnectionValve());
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
