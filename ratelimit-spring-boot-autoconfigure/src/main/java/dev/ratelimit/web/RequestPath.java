package dev.ratelimit.web;

import jakarta.servlet.http.HttpServletRequest;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import org.springframework.http.server.PathContainer;
import org.springframework.web.util.ServletRequestPathUtils;
import org.springframework.web.util.UriUtils;

/**
 * The path of a request within the application, in all the ways that something behind the filters may read it:
 *
 * <ol>
 *   <li>Spring MVC reads it as it was sent, behind the path of its servlet;
 *   <li>other servlets, and MVC's older matcher, see what the container made of it, without {@code ..} and {@code //};
 *   <li>either may overlook a slash at the end.
 * </ol>
 *
 * A rule applies if it matches one of these, and a path is exempt only if all of them are. So there is no way to write a
 * path that reaches a handler and not its rule.
 *
 * @param sent what it was read from
 */
record RequestPath(String sent, List<PathContainer> readings) {

    private static final String ATTRIBUTE = RequestPath.class.getName();

    /** A path that cannot be decoded cannot be matched. */
    static final class UnreadableException extends Exception {

        private static final long serialVersionUID = 1L;

        private UnreadableException(Throwable cause) {
            super(cause);
        }
    }

    /** Reads the path, once as long as it stays the same: a filter or a forward may replace it. */
    static RequestPath of(HttpServletRequest request) throws UnreadableException {
        String sent = request.getRequestURI();
        if (request.getAttribute(ATTRIBUTE) instanceof RequestPath known && known.sent.equals(sent)) {
            return known;
        }
        RequestPath path = new RequestPath(sent, read(request));
        request.setAttribute(ATTRIBUTE, path);
        return path;
    }

    private static List<PathContainer> read(HttpServletRequest request) throws UnreadableException {
        PathContainer asMvc;
        try {
            PathContainer withinServlet = ServletRequestPathUtils.parse(request).pathWithinApplication();
            String servlet = ServletRequestPathUtils.getServletPathPrefix(request);
            asMvc = servlet == null ? withinServlet : PathContainer.parsePath(servlet + withinServlet.value());
        } catch (IllegalArgumentException | IllegalStateException e) {
            throw new UnreadableException(e);
        }
        String info = request.getPathInfo();
        String asContainer = info == null ? request.getServletPath() : request.getServletPath() + info;
        if (isPlain(asMvc.value()) && asMvc.value().equals(asContainer)) {
            return List.of(asMvc);
        }
        List<PathContainer> readings = new ArrayList<>(4);
        add(readings, asMvc);
        add(readings, PathContainer.parsePath(UriUtils.encodePath(asContainer, StandardCharsets.UTF_8)));
        return List.copyOf(readings);
    }

    private static boolean isPlain(String path) {
        return path.indexOf('%') < 0 && path.indexOf(';') < 0 && (path.length() == 1 || !path.endsWith("/"));
    }

    private static void add(List<PathContainer> readings, PathContainer path) {
        int elements = path.elements().size();
        if (elements > 0 && !readings.contains(path)) {
            readings.add(path);
        }
        if (elements > 1 && path.elements().get(elements - 1) instanceof PathContainer.Separator) {
            add(readings, path.subPath(0, elements - 1));
        }
    }
}
