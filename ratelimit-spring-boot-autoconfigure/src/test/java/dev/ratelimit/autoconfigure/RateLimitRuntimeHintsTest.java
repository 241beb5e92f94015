package dev.ratelimit.autoconfigure;

import static org.assertj.core.api.Assertions.assertThat;

import dev.ratelimit.autoconfigure.property.RateLimitProperties;
import org.junit.jupiter.api.Test;
import org.springframework.aot.hint.MemberCategory;
import org.springframework.aot.hint.RuntimeHints;
import org.springframework.aot.hint.RuntimeHintsRegistrar;
import org.springframework.aot.hint.predicate.RuntimeHintsPredicates;
import org.springframework.beans.factory.aot.AotServices;

class RateLimitRuntimeHintsTest {

    @Test
    void migrationsAreInANativeImage() {
        RuntimeHints hints = new RuntimeHints();
        new RateLimitRuntimeHints().registerHints(hints, getClass().getClassLoader());

        for (String migration : new String[] {
            "dev/ratelimit/schema/sqlite/V1__rate_limits.sql", "dev/ratelimit/schema/postgresql/V1__rate_limits.sql"
        }) {
            assertThat(RuntimeHintsPredicates.resource().forResource(migration)).accepts(hints);
            assertThat(getClass().getClassLoader().getResource(migration)).isNotNull();
        }
    }

    @Test
    void expressionsCanCallTheRequestInANativeImage() throws Exception {
        RuntimeHints hints = new RuntimeHints();
        new RateLimitRuntimeHints().registerHints(hints, getClass().getClassLoader());

        for (String type : new String[] {
            "jakarta.servlet.http.HttpServletRequest",
            "org.apache.catalina.connector.RequestFacade",
            "org.springframework.security.web.servletapi.HttpServlet3RequestFactory"
                    + "$Servlet3SecurityContextHolderAwareRequestWrapper"
        }) {
            assertThat(RuntimeHintsPredicates.reflection()
                            .onType(Class.forName(type))
                            .withMemberCategory(MemberCategory.INVOKE_PUBLIC_METHODS))
                    .as(type)
                    .accepts(hints);
        }
    }

    @Test
    void propertiesOfALimitCanBeReadInANativeImage() throws Exception {
        RuntimeHints hints = new RuntimeHints();
        new RateLimitRuntimeHints().registerHints(hints, getClass().getClassLoader());

        Class<?> limit = Class.forName(RateLimitProperties.class.getName() + "$LimitSpec");
        assertThat(RuntimeHintsPredicates.reflection()
                        .onType(limit)
                        .withMemberCategory(MemberCategory.INVOKE_DECLARED_METHODS))
                .accepts(hints);
    }

    @Test
    void hintsAreRegistered() {
        assertThat(AotServices.factories().load(RuntimeHintsRegistrar.class))
                .anyMatch(RateLimitRuntimeHints.class::isInstance);
    }
}
