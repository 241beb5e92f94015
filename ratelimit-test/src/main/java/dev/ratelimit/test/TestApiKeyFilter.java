package dev.ratelimit.test;

import jakarta.servlet.Filter;
import jakarta.servlet.FilterChain;
import jakarta.servlet.ServletException;
import jakarta.servlet.ServletRequest;
import jakarta.servlet.ServletResponse;
import jakarta.servlet.http.HttpServletRequest;
import jakarta.servlet.http.HttpServletRequestWrapper;
import java.io.IOException;
import java.util.Collections;
import java.util.Enumeration;
import java.util.LinkedHashSet;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/** Adds the API key of the test to requests without one, as if the client had sent it. */
final class TestApiKeyFilter implements Filter {

    private final TestApiKey key;
    private final String header;

    TestApiKeyFilter(TestApiKey key, String header) {
        this.key = key;
        this.header = header;
    }

    @Override
    public void doFilter(ServletRequest request, ServletResponse response, FilterChain chain)
            throws IOException, ServletException {
        boolean lacks =
                key.current() != null && request instanceof HttpServletRequest http && http.getHeader(header) == null;
        chain.doFilter(lacks ? new WithKey((HttpServletRequest) request, header, key.secret()) : request, response);
    }

    private static final class WithKey extends HttpServletRequestWrapper {

        private final String header;
        private final String secret;

        WithKey(HttpServletRequest request, String header, String secret) {
            super(request);
            this.header = header;
            this.secret = secret;
        }

        @Override
        public @Nullable String getHeader(String name) {
            return name.equalsIgnoreCase(header) ? secret : super.getHeader(name);
        }

        @Override
        public Enumeration<String> getHeaders(String name) {
            return name.equalsIgnoreCase(header) ? Collections.enumeration(Set.of(secret)) : super.getHeaders(name);
        }

        @Override
        public Enumeration<String> getHeaderNames() {
            Set<String> names = new LinkedHashSet<>(Collections.list(super.getHeaderNames()));
            names.add(header);
            return Collections.enumeration(names);
        }
    }
}
