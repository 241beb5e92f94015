package dev.ratelimit.autoconfigure;

import dev.ratelimit.autoconfigure.property.ConfiguredPolicy;
import java.sql.Connection;
import java.util.List;
import org.jspecify.annotations.Nullable;
import org.springframework.aot.hint.MemberCategory;
import org.springframework.aot.hint.RuntimeHints;
import org.springframework.aot.hint.RuntimeHintsRegistrar;

/**
 * The hints for a native image: the migrations are resources, expressions call methods of the request, borrowed
 * connections are proxies, and the properties of a limit are read by their names.
 */
final class RateLimitRuntimeHints implements RuntimeHintsRegistrar {

    /** The types of {@code #request} and {@code #principal}: on Tomcat, and behind Spring Security. */
    private static final List<String> SEEN_BY_EXPRESSIONS = List.of(
            "java.security.Principal",
            "jakarta.servlet.http.HttpServletRequest",
            "jakarta.servlet.http.HttpServletRequestWrapper",
            "org.apache.catalina.connector.RequestFacade",
            "org.springframework.security.web.servletapi.SecurityContextHolderAwareRequestWrapper",
            "org.springframework.security.web.servletapi.HttpServlet3RequestFactory"
                    + "$Servlet3SecurityContextHolderAwareRequestWrapper",
            "org.springframework.security.authentication.AbstractAuthenticationToken");

    @Override
    public void registerHints(RuntimeHints hints, @Nullable ClassLoader classLoader) {
        hints.resources().registerPattern("dev/ratelimit/schema/*/*.sql");
        ConfiguredPolicy.registerHints(hints.reflection());
        hints.proxies().registerJdkProxy(Connection.class);
        for (String type : SEEN_BY_EXPRESSIONS) {
            hints.reflection().registerTypeIfPresent(classLoader, type, MemberCategory.INVOKE_PUBLIC_METHODS);
        }
    }
}
