package dev.ratelimit.web.servlet;

import dev.ratelimit.Subject;
import jakarta.servlet.http.HttpServletRequest;
import org.jspecify.annotations.Nullable;

/** Resolves the subject of a request. A bean of this type is used by a rule with {@code key: bean:NAME}. */
@FunctionalInterface
public interface SubjectResolver {

    /**
     * @return whose count it is, or {@code null} to count by the client's address
     */
    @Nullable
    Subject resolve(HttpServletRequest request);
}
