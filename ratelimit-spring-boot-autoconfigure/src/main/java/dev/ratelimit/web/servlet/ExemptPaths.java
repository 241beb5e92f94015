package dev.ratelimit.web.servlet;

import java.util.List;

/** Paths of handlers that protect themselves, so that no rule applies to them. All beans of this type are asked. */
public interface ExemptPaths {

    /** Patterns of paths within the application, the path of the servlet included, such as {@code /health/**}. */
    List<String> patterns();
}
