package guide;

// region answer
import dev.ratelimit.gate.Rejection;
import dev.ratelimit.web.servlet.ProblemRejectionHandler;
import dev.ratelimit.web.servlet.RateLimitRejectionHandler;
import jakarta.servlet.http.HttpServletRequest;
import jakarta.servlet.http.HttpServletResponse;
import java.io.IOException;
import org.springframework.stereotype.Component;

/** A page for browsers, a problem document for everyone else. */
@Component
class HtmlRejections implements RateLimitRejectionHandler {

    private final RateLimitRejectionHandler problems = new ProblemRejectionHandler();

    @Override
    public void reject(HttpServletRequest request, HttpServletResponse response, Rejection rejection)
            throws IOException {
        String accept = request.getHeader("Accept");
        if (accept == null || !accept.contains("text/html")) {
            problems.reject(request, response, rejection);
            return;
        }
        response.setStatus(rejection.status());
        response.setHeader("Cache-Control", "no-store");
        response.setContentType("text/html;charset=UTF-8");
        response.getWriter()
                .println("<!doctype html><title>Slow down</title><p>Please try again in "
                        + rejection.retryAfterSeconds() + " seconds.");
    }
}
// endregion
