package dev.ratelimit.web.servlet.filter;

import dev.ratelimit.RateLimitExceededException;
import jakarta.servlet.http.HttpServletRequest;
import jakarta.servlet.http.HttpServletResponse;
import java.io.IOException;
import java.io.UncheckedIOException;
import org.jspecify.annotations.Nullable;
import org.springframework.core.Ordered;
import org.springframework.web.servlet.HandlerExceptionResolver;
import org.springframework.web.servlet.ModelAndView;

/** Turns the exception of an annotated method into the same answer that the filter gives. */
public final class RateLimitExceptionResolver implements HandlerExceptionResolver, Ordered {

    private final RejectionWriter rejections;

    public RateLimitExceptionResolver(RejectionWriter rejections) {
        this.rejections = rejections;
    }

    @Override
    public @Nullable ModelAndView resolveException(
            HttpServletRequest request, HttpServletResponse response, @Nullable Object handler, Exception exception) {
        if (!(exception instanceof RateLimitExceededException exceeded) || response.isCommitted()) {
            return null;
        }
        try {
            rejections.write(request, response, exceeded);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
        return new ModelAndView();
    }

    @Override
    public int getOrder() {
        return Ordered.HIGHEST_PRECEDENCE + 100;
    }
}
