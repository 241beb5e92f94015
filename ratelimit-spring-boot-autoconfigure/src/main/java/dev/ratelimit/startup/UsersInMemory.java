package dev.ratelimit.startup;

import java.lang.reflect.Field;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import org.springframework.beans.factory.config.ConfigurableListableBeanFactory;
import org.springframework.security.authentication.AuthenticationManager;
import org.springframework.security.authentication.AuthenticationProvider;
import org.springframework.security.core.GrantedAuthority;
import org.springframework.security.core.authority.mapping.GrantedAuthoritiesMapper;
import org.springframework.security.core.userdetails.UserDetails;
import org.springframework.security.core.userdetails.UserDetailsService;
import org.springframework.security.provisioning.InMemoryUserDetailsManager;
import org.springframework.util.ReflectionUtils;

/**
 * The authorities of users that are kept in memory, such as the one of {@code spring.security.user}. They are known only if nothing
 * else can let users in, and no bean of the application can add users.
 */
public final class UsersInMemory {

    private UsersInMemory() {}

    /** All authorities that callers can have; {@code null} if that is not known. */
    public static @Nullable Set<String> authorities(ConfigurableListableBeanFactory beans) {
        String[] services = beans.getBeanNamesForType(UserDetailsService.class, true, false);
        if (services.length != 1
                || Stream.of(AuthenticationManager.class, AuthenticationProvider.class, GrantedAuthoritiesMapper.class)
                        .anyMatch(other -> beans.getBeanNamesForType(other, true, false).length > 0)
                || !beans.containsBean(SecurityFilters.BEAN)
                || !new SecurityFilters(beans).areByPassword()) {
            return null;
        }
        Object users = beans.getBean(services[0]);
        boolean mayGrow = Stream.of(beans.getDependentBeans(services[0]))
                .anyMatch(bean -> !beans.containsBean(bean) || !isOfSpring(beans.getType(bean)));
        Field field = ReflectionUtils.findField(InMemoryUserDetailsManager.class, "users", Map.class);
        if (users.getClass() != InMemoryUserDetailsManager.class || mayGrow || field == null) {
            return null;
        }
        ReflectionUtils.makeAccessible(field);
        return ReflectionUtils.getField(field, users) instanceof Map<?, ?> byName ? authorities(byName) : null;
    }

    private static boolean isOfSpring(@Nullable Class<?> type) {
        return type != null && type.getName().startsWith("org.springframework.");
    }

    private static Set<String> authorities(Map<?, ?> users) {
        Set<String> authorities = new TreeSet<>();
        for (Object user : users.values()) {
            if (user instanceof UserDetails details) {
                details.getAuthorities().stream()
                        .map(GrantedAuthority::getAuthority)
                        .forEach(authorities::add);
            }
        }
        return authorities;
    }
}
