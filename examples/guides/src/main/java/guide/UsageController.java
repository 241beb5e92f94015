package guide;

// region usage
import dev.ratelimit.LimitDecision;
import dev.ratelimit.web.servlet.CallerLimits;
import jakarta.servlet.http.HttpServletRequest;
import java.time.Instant;
import org.springframework.web.bind.annotation.GetMapping;
import org.springframework.web.bind.annotation.RestController;

@RestController
class UsageController {

    private final CallerLimits limits;

    UsageController(CallerLimits limits) {
        this.limits = limits;
    }

    record Usage(long remaining, Instant resetAt) {}

    @GetMapping("/usage")
    Usage usage(HttpServletRequest request) {
        LimitDecision tightest = limits.peek(request, "GET", "/api/reports").tightest();
        return tightest == null ? null : new Usage(tightest.remaining(), tightest.resetAt());
    }
}
// endregion
