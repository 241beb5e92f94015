package dev.ratelimit.benchmark.filter;

import io.github.bucket4j.Bandwidth;
import io.github.bucket4j.BucketConfiguration;
import io.github.bucket4j.ConsumptionProbe;
import io.github.bucket4j.distributed.proxy.ProxyManager;
import jakarta.servlet.FilterChain;
import jakarta.servlet.ServletException;
import jakarta.servlet.http.HttpFilter;
import jakarta.servlet.http.HttpServletRequest;
import jakarta.servlet.http.HttpServletResponse;
import java.io.IOException;
import java.time.Duration;

/** A plain filter: a bucket for each value of the header, and the remaining tokens in a header of the response. */
final class Bucket4jFilter extends HttpFilter {

    private final ProxyManager<String> buckets;
    private final BucketConfiguration configuration;

    Bucket4jFilter(ProxyManager<String> buckets, long burst) {
        this.buckets = buckets;
        this.configuration = BucketConfiguration.builder()
                .addLimit(Bandwidth.builder()
                        .capacity(burst)
                        .refillGreedy(1, Duration.ofDays(1))
                        .build())
                .build();
    }

    @Override
    protected void doFilter(HttpServletRequest request, HttpServletResponse response, FilterChain chain)
            throws IOException, ServletException {
        ConsumptionProbe probe = buckets.builder()
                .build("client:" + request.getHeader("X-Client"), () -> configuration)
                .tryConsumeAndReturnRemaining(1);
        if (!probe.isConsumed()) {
            response.sendError(429);
            return;
        }
        response.setHeader("X-RateLimit-Remaining", Long.toString(probe.getRemainingTokens()));
        chain.doFilter(request, response);
    }
}
