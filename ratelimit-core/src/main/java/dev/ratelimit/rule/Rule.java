package dev.ratelimit.rule;

import dev.ratelimit.FailurePolicy;
import java.util.List;
import java.util.Set;

/**
 * Which requests limits apply to, and whose count it is.
 *
 * @param priority higher ones come first
 * @param path a pattern such as {@code /api/**}
 * @param methods the methods of HTTP, in upper case; empty for all. {@code GET} covers {@code HEAD}
 * @param key whose count it is, as written: {@code user}, {@code ip} …
 * @param limits the names of the limits
 */
public record Rule(
        String name,
        int priority,
        String path,
        Set<String> methods,
        String key,
        List<String> limits,
        FailurePolicy onFailure) {

    public Rule {
        methods = Set.copyOf(methods);
        limits = List.copyOf(limits);
    }

    boolean appliesTo(String method) {
        return methods.isEmpty() || methods.contains(method) || (method.equals("HEAD") && methods.contains("GET"));
    }
}
