package dev.ratelimit.autoconfigure;

import dev.ratelimit.Limits;
import dev.ratelimit.RateLimiter;
import dev.ratelimit.annotation.CallContext;
import dev.ratelimit.annotation.ServletCallContext;
import dev.ratelimit.rule.AddressRange;
import dev.ratelimit.rule.Rule;
import dev.ratelimit.rule.RuleBook;
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
import dev.ratelimit.web.SubjectKeys;
import jakarta.servlet.DispatcherType;
import jakarta.servlet.Filter;
import java.util.List;
import java.util.Set;
import java.util.stream.Collectors;
import org.eclipse.jetty.server.Server;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
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
import org.springframework.core.env.Environment;
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

    private static final Logger log = LoggerFactory.getLogger(RateLimitWebAutoConfiguration.class);

    @Bean
    @ConditionalOnMissingBean
    RuleBook rateLimitRules(RateLimitProperties properties, Limits limits, BeanFactory beans, Environment environment) {
        List<Rule> rules = ConfiguredLimits.rules(properties.rules(), properties.onFailure(), limits);
        warnOfPathsOutside(environment.getProperty("spring.mvc.servlet.path", "/"), rules);
        return RuleBook.of(rules, MvcPaths.parser(beans));
    }

    /** Those whose first segment is not a pattern: others may well reach into the servlet. */
    private static void warnOfPathsOutside(String servletPath, List<Rule> rules) {
        String servlet = servletPath.endsWith("/") ? servletPath.substring(0, servletPath.length() - 1) : servletPath;
        for (Rule rule : rules) {
            if (!servlet.isEmpty()
                    && !rule.path().startsWith(servlet + "/")
                    && rule.path().matches("/[^/*?{]+(/.*)?")) {
                log.warn(
                        "Rule '{}' has the path {}, but Spring MVC serves what begins with {}"
                                + " (spring.mvc.servlet.path): to limit that, write {}{}",
                        rule.name(),
                        rule.path(),
                        servlet,
                        servlet,
                        rule.path());
            }
        }
    }

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
    SubjectKeys rateLimitSubjectKeys(ClientAddresses addresses, BeanFactory beans) {
        return new SubjectKeys(addresses, beans);
    }

    @Bean
    @ConditionalOnMissingBean
    Exemptions rateLimitExemptions(
            RateLimitProperties properties,
            ClientAddresses addresses,
            ObjectProvider<Exemptions.Authorities> authorities,
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
    RateLimitFilter.Parts rateLimitFilterParts(
            RuleBook rules,
            SubjectKeys keys,
            RateLimiter limiter,
            Exemptions exemptions,
            RateLimitHeaders headers,
            RateLimitRejectionHandler rejection) {
        return new RateLimitFilter.Parts(rules, keys, limiter, exemptions, headers, rejection);
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
    CallContext.Source rateLimitCallContexts(SubjectKeys keys, Exemptions exemptions, RateLimitHeaders headers) {
        return ServletCallContext.source(keys, exemptions, headers);
    }

    @Configuration(proxyBeanMethods = false)
    @ConditionalOnClass(SecurityContextHolder.class)
    static class SecurityConfiguration {

        @Bean
        @ConditionalOnMissingBean
        Exemptions.Authorities rateLimitAuthorities() {
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
