package guide;

// region tenants
import dev.ratelimit.Subject;
import dev.ratelimit.web.servlet.SubjectResolver;
import jakarta.servlet.http.HttpServletRequest;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;

@Configuration
class Tenants {

    @Bean
    SubjectResolver tenant() {
        return request -> tenantOf(request) == null ? null : Subject.of("tenant", tenantOf(request));
    }

    private static String tenantOf(HttpServletRequest request) {
        String host = request.getServerName();
        return host.endsWith(".example.com") ? host.substring(0, host.length() - ".example.com".length()) : null;
    }
}
// endregion
