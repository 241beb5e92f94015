package dev.ratelimit.startup;

import org.springframework.beans.factory.BeanFactory;
import org.springframework.util.PathMatcher;
import org.springframework.web.util.pattern.PathPatternParser;

/** How Spring MVC of the application tells paths apart. */
public final class MvcPaths {

    private MvcPaths() {}

    /** Reads patterns as MVC does: with its own parser, or one that is as generous as its older matcher. */
    public static PathPatternParser parser(BeanFactory beans) {
        PathPatternParser parser = beans.containsBean("mvcPatternParser")
                ? beans.getBean("mvcPatternParser", PathPatternParser.class)
                : PathPatternParser.defaultInstance;
        if (parser.isCaseSensitive()
                && beans.containsBean("mvcPathMatcher")
                && beans.getBean("mvcPathMatcher", PathMatcher.class).match("/a", "/A")) {
            parser = new PathPatternParser();
            parser.setCaseSensitive(false);
        }
        return parser;
    }
}
