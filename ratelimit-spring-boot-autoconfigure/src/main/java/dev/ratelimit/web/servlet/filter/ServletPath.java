package dev.ratelimit.web.servlet.filter;

import dev.ratelimit.policy.PathReadings;
import jakarta.servlet.http.HttpServletRequest;
import org.springframework.http.server.PathContainer;
import org.springframework.web.util.ServletRequestPathUtils;

/**
 * The path of a servlet request.
 *
 * @param sent the URI that it was read from
 */
record ServletPath(String sent, PathReadings readings) {

    private static final String ATTRIBUTE = ServletPath.class.getName();

    /** Reads the path, once as long as it stays the same: a filter or a forward may replace it. */
    static ServletPath of(HttpServletRequest request) {
        String sent = request.getRequestURI();
        if (request.getAttribute(ATTRIBUTE) instanceof ServletPath known && known.sent.equals(sent)) {
            return known;
        }
        ServletPath path = new ServletPath(sent, read(request));
        request.setAttribute(ATTRIBUTE, path);
        return path;
    }

    private static PathReadings read(HttpServletRequest request) {
        PathContainer asMvc;
        try {
            PathContainer withinServlet = ServletRequestPathUtils.parse(request).pathWithinApplication();
            String servlet = ServletRequestPathUtils.getServletPathPrefix(request);
            asMvc = servlet == null ? withinServlet : PathContainer.parsePath(servlet + withinServlet.value());
        } catch (IllegalArgumentException | IllegalStateException e) {
            return PathReadings.unreadable(withinApplication(request));
        }
        String info = request.getPathInfo();
        return PathReadings.of(asMvc, info == null ? request.getServletPath() : request.getServletPath() + info);
    }

    private static String withinApplication(HttpServletRequest request) {
        String sent = request.getRequestURI();
        String context = request.getServletContext().getContextPath(); // that of the request may be what failed
        return sent.startsWith(context) ? sent.substring(context.length()) : sent;
    }
}
