package dev.ratelimit.policy;

import java.nio.charset.StandardCharsets;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.List;
import java.util.regex.Pattern;
import org.springframework.http.server.PathContainer;
import org.springframework.web.util.UriUtils;

/**
 * The path of a request within the application, in every way that something behind the limits may read it:
 *
 * <ol>
 *   <li>Spring reads it as it was sent;
 *   <li>other servlets, and MVC's older matcher, see the path that the container normalised, without {@code ..} and {@code //};
 *   <li>either may ignore a slash at the end.
 * </ol>
 *
 * A rule applies if it matches one of these, and a path is exempt only if all of them are. So no spelling of a path reaches a
 * handler and bypasses its rule.
 *
 * @param sent the path as it was sent
 * @param all its readings; none if it cannot be read
 */
public record PathReadings(String sent, List<PathContainer> all) {

    private static final Pattern PARAMETERS = Pattern.compile(";[^/]*");

    public PathReadings {
        all = List.copyOf(all);
    }

    /**
     * The readings of a path that a container has received.
     *
     * @param sent as Spring reads it
     * @param asContainer as the container reads it: decoded and normalised
     */
    public static PathReadings of(PathContainer sent, String asContainer) {
        if (isPlain(sent.value()) && sent.value().equals(asContainer)) {
            return new PathReadings(sent.value(), List.of(sent));
        }
        List<PathContainer> readings = new ArrayList<>(4);
        add(readings, sent);
        add(readings, PathContainer.parsePath(UriUtils.encodePath(asContainer, StandardCharsets.UTF_8)));
        return new PathReadings(
                readings.isEmpty() ? sent.value() : readings.get(0).value(), readings);
    }

    /** The readings of a path that cannot be decoded. Only rules for every path apply to it, and it is not exempt. */
    public static PathReadings unreadable(String sent) {
        return new PathReadings(sent, List.of());
    }

    /** The path as it was sent, for records. Parameters such as {@code ;jsessionid=…} are left out: they may be secrets. */
    public String withoutParameters() {
        return sent.indexOf(';') < 0 ? sent : PARAMETERS.matcher(sent).replaceAll("");
    }

    /** Whether the path could be decoded. */
    public boolean isReadable() {
        return !all.isEmpty();
    }

    /**
     * The readings of a path that is written down, as if a request with it had come.
     *
     * @throws IllegalArgumentException if no server would accept it
     */
    public static PathReadings of(String path) {
        if (!path.startsWith("/") || path.indexOf('?') >= 0) {
            throw new IllegalArgumentException(
                    "the path is '" + path + "'; begin it with / and leave out what follows a ?, as in /api/games");
        }
        return of(parse(path), normalised(path));
    }

    private static PathContainer parse(String path) {
        try {
            return PathContainer.parsePath(path);
        } catch (IllegalArgumentException e) {
            throw new IllegalArgumentException(
                    "the path is '" + path + "'; write two hexadecimal digits after each %, as in /api/my%20games", e);
        }
    }

    /** As a container does it: without parameters, decoded, and with dots and double slashes resolved. */
    private static String normalised(String path) {
        if (path.indexOf('%') < 0 && path.indexOf(';') < 0 && !path.contains("//") && !path.contains("/.")) {
            return path;
        }
        Deque<String> segments = new ArrayDeque<>();
        String last = "";
        for (String sent : path.split("/", -1)) {
            int parameters = sent.indexOf(';');
            last = UriUtils.decode(parameters < 0 ? sent : sent.substring(0, parameters), StandardCharsets.UTF_8);
            if (last.equals("..")) {
                if (segments.isEmpty()) {
                    throw new IllegalArgumentException("the path '" + path + "' leads above the application; write one"
                            + " that stays within it, as in /api/games");
                }
                segments.removeLast();
            } else if (!last.isEmpty() && !last.equals(".")) {
                segments.addLast(last);
            }
        }
        boolean slashAtEnd = last.isEmpty() || last.equals(".") || last.equals("..");
        String joined = "/" + String.join("/", segments);
        return slashAtEnd && joined.length() > 1 ? joined + "/" : joined;
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
