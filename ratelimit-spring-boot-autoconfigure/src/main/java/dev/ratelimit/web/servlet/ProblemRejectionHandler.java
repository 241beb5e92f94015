package dev.ratelimit.web.servlet;

import dev.ratelimit.gate.Rejection;
import dev.ratelimit.web.ProblemDocument;
import jakarta.servlet.http.HttpServletRequest;
import jakarta.servlet.http.HttpServletResponse;
import java.io.IOException;

/** Answers with a {@link ProblemDocument}. */
public final class ProblemRejectionHandler implements RateLimitRejectionHandler {

    @Override
    public void reject(HttpServletRequest request, HttpServletResponse response, Rejection rejection)
            throws IOException {
        byte[] body = ProblemDocument.of(rejection);
        response.setStatus(rejection.status());
        response.setHeader("Cache-Control", "no-store");
        response.setContentType(ProblemDocument.CONTENT_TYPE);
        response.setContentLength(body.length);
        response.getOutputStream().write(body);
    }
}
