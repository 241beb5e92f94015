package dev.ratelimit.autoconfigure;

import dev.ratelimit.web.servlet.filter.OriginalConnectionValve;
import org.springframework.boot.tomcat.ConfigurableTomcatWebServerFactory;
import org.springframework.boot.web.server.WebServerFactoryCustomizer;
import org.springframework.core.Ordered;

/**
 * Adds our valve before Spring Boot adds those of Tomcat, so that ours sees the connection first. A lambda would not do: Spring
 * Boot does not read {@code @Order} on the bean method of a customizer, and would call it last.
 */
final class OriginalTomcatConnection
        implements WebServerFactoryCustomizer<ConfigurableTomcatWebServerFactory>, Ordered {

    @Override
    public void customize(ConfigurableTomcatWebServerFactory factory) {
        factory.addEngineValves(new OriginalConnectionValve());
    }

    @Override
    public int getOrder() {
        return HIGHEST_PRECEDENCE;
    }
}
