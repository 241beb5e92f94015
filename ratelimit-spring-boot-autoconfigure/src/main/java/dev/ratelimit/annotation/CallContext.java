package dev.ratelimit.annotation;

import jakarta.servlet.http.HttpServletRequest;
import jakarta.servlet.http.HttpServletResponse;
import org.jspecify.annotations.Nullable;
import org.springframework.web.context.request.RequestContextHolder;
import org.springframework.web.context.request.ServletRequestAttributes;

/**
 * The web request that a call is part of, if it is part of one.
 */
record CallContext(
        @Nullable HttpServletRequest request, @Nullable HttpServletResponse response) {

    static CallContext current() {
        return RequestContextHolder.getRequestAttributes() instanceof ServletRequestAttributes attributes
                ? new CallContext(attributes.getRequest(), attributes.getResponse())
                : new CallContext(null, null);
    }
}
