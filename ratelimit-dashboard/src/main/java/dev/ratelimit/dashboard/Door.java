package dev.ratelimit.dashboard;

import dev.ratelimit.Charged;
import dev.ratelimit.Decision;
import dev.ratelimit.Limit;
import dev.ratelimit.LimitRequest;
import dev.ratelimit.Limits;
import dev.ratelimit.Rate;
import dev.ratelimit.RateLimiter;
import dev.ratelimit.Subject;
import dev.ratelimit.algorithm.Algorithms;
import dev.ratelimit.engine.StoreRateLimiter;
import dev.ratelimit.gate.Rejection;
import dev.ratelimit.policy.Rule.Response;
import dev.ratelimit.store.MemoryLimitStore;
import dev.ratelimit.support.Sha256;
import dev.ratelimit.web.RateLimitHeaders;
import dev.ratelimit.web.servlet.ProblemRejectionHandler;
import dev.ratelimit.web.servlet.filter.RejectionWriter;
import dev.ratelimit.web.servlet.filter.ServletGate;
import jakarta.servlet.FilterChain;
import jakarta.servlet.ServletException;
import jakarta.servlet.ServletRequest;
import jakarta.servlet.http.HttpServletRequest;
import jakarta.servlet.http.HttpServletResponse;
import java.io.IOException;
import java.time.Duration;
import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import org.springframework.web.filter.OncePerRequestFilter;

/**
 * Limits requests to the dashboard by senders who do not get in. The rules of the application do not apply here, since they would
 * keep an operator out during an incident. Without a limit of its own, the dashboard would be a place to guess passwords.
 *
 * <p>Each request is charged to its address before authentication, and given back once the sender turns out to be an
 * operator. The counts are in the memory of this instance, so that a failing store locks nobody out. Listeners are told about each
 * request that is rejected, so that metrics and the audit trail show an attack.
 *
 * <p>A browser that an operator has used is known by its {@linkplain Forgeries token}, and counted by that. So strangers who share
 * the address, such as behind one proxy, do not lock out an operator who is at work.
 */
final class Door extends OncePerRequestFilter {

    /** The requests per minute and address of senders who do not get in. */
    static final int STRANGERS = 30;

    private static final String ADMITTED = Door.class.getName() + ".ADMITTED";
    private static final Limit LIMIT = Limit.named("dashboard-strangers")
            .algorithm(Algorithms.burst(STRANGERS, new Rate(STRANGERS, Duration.ofMinutes(1))))
            .build();
    private static final Response RESPONSE =
            new Response(null, "Too many requests to the dashboard without being let in. Try again in a minute.", null);
    private static final RejectionWriter REJECTIONS =
            new RejectionWriter(new RateLimitHeaders(false, false), new ProblemRejectionHandler(), null);
    private static final int MOST_BROWSERS = 1_000;
    private static final long MINUTE = TimeUnit.MINUTES.toNanos(1);

    private final DashboardPaths paths;
    private final ServletGate gate;
    private final MemoryLimitStore store = new MemoryLimitStore();
    private final RateLimiter limiter = StoreRateLimiter.builder(store, Limits.of(List.of(LIMIT)))
            .rememberedDenials(0)
            .build();

    /** The tokens of browsers that operators have used, the least recently used first. */
    private final Map<String, Boolean> browsers = Collections.synchronizedMap(new LinkedHashMap<>(16, 0.75f, true) {
        private static final long serialVersionUID = 1L;

        @Override
        protected boolean removeEldestEntry(Map.Entry<String, Boolean> eldest) {
            return size() > MOST_BROWSERS;
        }
    });

    private final AtomicLong cleaned = new AtomicLong(System.nanoTime());

    /**
     * @param gate knows the address of a client, and tells listeners about rejections
     */
    Door(DashboardPaths paths, ServletGate gate) {
        this.paths = paths;
        this.gate = gate;
    }

    /** Notes that the sender of a request is an operator. */
    static void admit(ServletRequest request) {
        request.setAttribute(ADMITTED, true);
    }

    @Override
    protected boolean shouldNotFilter(HttpServletRequest request) {
        return !paths.mayContain(request);
    }

    @Override
    protected void doFilterInternal(HttpServletRequest request, HttpServletResponse response, FilterChain chain)
            throws ServletException, IOException {
        String token = Forgeries.sentToken(request);
        // A token is a secret: records show its digest.
        Subject sender = token != null && browsers.get(token) != null
                ? Subject.of("browser", Sha256.base64(token))
                : Subject.of("ip", gate.clientOf(request));
        LimitRequest asked = LimitRequest.of(sender, LIMIT).recordedByCaller();
        long start = System.nanoTime();
        Charged charged = limiter.charge(asked);
        if (!charged.decision().allowed()) {
            reject(request, response, asked, charged.decision(), Duration.ofNanos(System.nanoTime() - start));
            return;
        }
        if (isMultipart(request)) {
            // The dispatcher would parse it before the dashboard sees it, and fail with 500 if it is broken.
            response.setStatus(HttpServletResponse.SC_UNSUPPORTED_MEDIA_TYPE);
            return;
        }
        try {
            chain.doFilter(request, response);
        } finally {
            if (request.getAttribute(ADMITTED) != null) {
                charged.giveBack();
                if (token != null) {
                    browsers.put(token, true);
                }
            }
            clean();
        }
    }

    /** The dashboard reads JSON only. */
    private static boolean isMultipart(HttpServletRequest request) {
        String type = request.getContentType();
        return type != null && type.regionMatches(true, 0, "multipart/", 0, "multipart/".length());
    }

    private void reject(
            HttpServletRequest request,
            HttpServletResponse response,
            LimitRequest asked,
            Decision decision,
            Duration took)
            throws IOException {
        Rejection rejection = Rejection.of(decision, RESPONSE);
        try {
            // Not as an error that is dispatched: the application would ask for a login there.
            REJECTIONS.write(request, response, rejection);
        } finally {
            gate.rejectedBefore(request, asked, decision, took, rejection.status());
        }
    }

    /** Forgets full buckets, so that many addresses do not fill the memory. */
    private void clean() {
        long last = cleaned.get();
        long now = System.nanoTime();
        if (now - last > MINUTE && cleaned.compareAndSet(last, now)) {
            store.prune(TimeUnit.NANOSECONDS.toMicros(MINUTE));
        }
    }
}
