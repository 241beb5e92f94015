package guide;

// region captcha
import dev.ratelimit.gate.Rejection;
import dev.ratelimit.web.servlet.ProblemRejectionHandler;
import dev.ratelimit.web.servlet.RateLimitRejectionHandler;
import jakarta.servlet.http.HttpServletRequest;
import jakarta.servlet.http.HttpServletResponse;
import java.io.IOException;

/** Asks for a CAPTCHA from the third violation on. */
class CaptchaRejections implements RateLimitRejectionHandler {

    private static final int FIRST_WITH_CAPTCHA = 3;

    private final RateLimitRejectionHandler problems = new ProblemRejectionHandler();

    @Override
    public void reject(HttpServletRequest request, HttpServletResponse response, Rejection rejection)
            throws IOException {
        if (rejection.violations() >= FIRST_WITH_CAPTCHA) {
            response.setHeader("X-Captcha", "required");
        }
        problems.reject(request, response, rejection);
    }
}
// endregion
