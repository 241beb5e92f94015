package dev.ratelimit.dashboard;

import dev.ratelimit.web.servlet.ExemptPaths;
import jakarta.servlet.http.HttpServletRequest;
import java.util.List;
import org.springframework.core.env.Environment;

/**
 * The paths of the dashboard. No rule applies to them, so that an operator gets in during an incident; {@link Door} limits them
 * instead. They are listed one by one: a handler of the application beside them stays limited.
 *
 * @param servlet the path of the dispatcher servlet; empty if it has none
 * @param path the path within the servlet
 */
record DashboardPaths(String servlet, String path) implements ExemptPaths {

    static final String ASSETS = "/assets/";
    static final String DATA = "/data/";

    static DashboardPaths of(DashboardProperties properties, Environment environment) {
        String servlet = environment.getProperty("spring.mvc.servlet.path", "");
        return new DashboardPaths(
                servlet.endsWith("/") ? servlet.substring(0, servlet.length() - 1) : servlet, properties.path());
    }

    @Override
    public List<String> patterns() {
        String base = servlet + path;
        return List.of(base, base + "/", base + ASSETS + "*", base + DATA + "**");
    }

    /** Whether a request may be one to the dashboard. In doubt it is: MVC may ignore the case of paths. */
    boolean mayContain(HttpServletRequest request) {
        String info = request.getPathInfo();
        String asked = info == null ? request.getServletPath() : request.getServletPath() + info;
        String base = servlet + path;
        return asked.regionMatches(true, 0, base, 0, base.length())
                && (asked.length() == base.length() || asked.charAt(base.length()) == '/');
    }
}
