package dev.ratelimit.startup;

import jakarta.servlet.Filter;
import java.lang.reflect.Field;
import java.lang.reflect.Modifier;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import org.springframework.beans.factory.BeanFactory;
import org.springframework.core.NativeDetector;
import org.springframework.security.web.FilterChainProxy;
import org.springframework.security.web.util.matcher.RequestMatcher;
import org.springframework.util.ReflectionUtils;

/**
 * The filters of Spring Security, if all of them are known. Another filter may serve any path, and let in users of any kind, so
 * then nothing is known.
 */
final class SecurityFilters {

    static final String BEAN = "springSecurityFilterChain";

    private static final String WEB = "org.springframework.security.web.";

    /** They serve no path but those that their matchers name, and let users in by name and password. */
    private static final Set<String> BY_PASSWORD = Set.of(
            "dev.ratelimit.login.check.LoginFilter",
            "org.springframework.web.filter.CorsFilter",
            WEB + "access.ExceptionTranslationFilter",
            WEB + "access.intercept.AuthorizationFilter",
            WEB + "authentication.AnonymousAuthenticationFilter",
            WEB + "authentication.UsernamePasswordAuthenticationFilter",
            WEB + "authentication.logout.LogoutFilter",
            WEB + "authentication.rememberme.RememberMeAuthenticationFilter",
            WEB + "authentication.ui.DefaultLoginPageGeneratingFilter",
            WEB + "authentication.ui.DefaultLogoutPageGeneratingFilter",
            WEB + "authentication.ui.DefaultResourcesFilter",
            WEB + "authentication.www.BasicAuthenticationFilter",
            WEB + "context.SecurityContextHolderFilter",
            WEB + "context.request.async.WebAsyncManagerIntegrationFilter",
            WEB + "csrf.CsrfFilter",
            WEB + "header.HeaderWriterFilter",
            WEB + "savedrequest.RequestCacheAwareFilter",
            WEB + "servletapi.SecurityContextHolderAwareRequestFilter",
            WEB + "session.ConcurrentSessionFilter",
            WEB + "session.DisableEncodeUrlFilter",
            WEB + "session.ForceEagerSessionCreationFilter",
            WEB + "session.SessionManagementFilter",
            WEB + "transport.HttpsRedirectFilter");

    /** It serves no path either. */
    private static final String BY_TOKEN =
            "org.springframework.security.oauth2.server.resource.web.authentication.BearerTokenAuthenticationFilter";

    /** Matchers of these do not choose a path that is served. */
    private static final Set<String> PASSING =
            Set.of(WEB + "csrf.CsrfFilter", WEB + "transport.HttpsRedirectFilter", BY_TOKEN);

    /** A path in the text of a matcher. */
    private static final Pattern PATH = Pattern.compile("PathPattern \\[(?:[A-Z]+ )?(/[^\\]]*)]");

    private final @Nullable List<Filter> filters;

    SecurityFilters(BeanFactory beans) {
        Object chains = beans.getBean(BEAN);
        this.filters = chains instanceof FilterChainProxy proxy
                ? proxy.getFilterChains().stream()
                        .flatMap(chain -> chain.getFilters().stream())
                        .toList()
                : null;
    }

    /** Whether users are let in by name and password only. */
    boolean areByPassword() {
        return filters != null
                && filters.stream()
                        .allMatch(
                                filter -> BY_PASSWORD.contains(filter.getClass().getName()));
    }

    /** The path patterns that they serve; {@code null} if these are not known. */
    @Nullable
    List<String> paths() {
        if (filters == null || NativeDetector.inNativeImage()) {
            return null; // fields are not there in a native image
        }
        List<String> paths = new ArrayList<>();
        for (Filter filter : filters) {
            String name = filter.getClass().getName();
            boolean known = PASSING.contains(name) || (BY_PASSWORD.contains(name) && addPaths(filter, paths));
            if (!known) {
                return null;
            }
        }
        return paths;
    }

    /** Only their fields tell it. */
    private static boolean addPaths(Filter filter, List<String> paths) {
        for (Field field : fields(filter.getClass()).toList()) {
            Object value = valueOf(field, filter);
            if (value instanceof String text && text.startsWith("/")) {
                paths.add(text.replaceFirst("\\?.*", ""));
            } else if (value instanceof RequestMatcher matcher) {
                Matcher found = PATH.matcher(matcher.toString());
                int before = paths.size();
                while (found.find()) {
                    paths.add(found.group(1));
                }
                if (paths.size() == before) {
                    return false;
                }
            }
        }
        return true;
    }

    private static Stream<Field> fields(Class<?> type) {
        return Stream.<Class<?>>iterate(type, above -> above != null, Class::getSuperclass)
                .flatMap(above -> Stream.of(above.getDeclaredFields()))
                .filter(field -> !Modifier.isStatic(field.getModifiers())
                        && (field.getType() == String.class || field.getType() == RequestMatcher.class));
    }

    private static @Nullable Object valueOf(Field field, Filter filter) {
        ReflectionUtils.makeAccessible(field);
        return ReflectionUtils.getField(field, filter);
    }
}
