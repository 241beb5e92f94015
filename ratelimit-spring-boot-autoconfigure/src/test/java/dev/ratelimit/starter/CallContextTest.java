package dev.ratelimit.starter;

import static org.assertj.core.api.Assertions.assertThat;

import dev.ratelimit.web.CallContext;
import dev.ratelimit.web.servlet.filter.RateLimitFilter;
import jakarta.servlet.Filter;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.springframework.boot.web.servlet.FilterRegistrationBean;
import org.springframework.context.ApplicationContext;
import org.springframework.mock.web.MockHttpServletRequest;
import org.springframework.mock.web.MockHttpServletResponse;
import org.springframework.web.context.request.RequestContextHolder;
import org.springframework.web.context.request.ServletRequestAttributes;

/** The status of a response, for calls that are settled by it. */
class CallContextTest {

    private final MockHttpServletRequest request = new MockHttpServletRequest("GET", "/x");
    private final MockHttpServletResponse response = new MockHttpServletResponse();
    private final List<Integer> statuses = new ArrayList<>();

    @AfterEach
    void endRequest() {
        RequestContextHolder.resetRequestAttributes();
    }

    private boolean afterResponse(ApplicationContext context) {
        RequestContextHolder.setRequestAttributes(new ServletRequestAttributes(request, response));
        return context.getBean(CallContext.Source.class).current().afterResponse(statuses::add);
    }

    @Test
    void statusIsKnownToRequestsThatPassAFilter() {
        OtherLoginsTest.application().run(context -> {
            Filter filter = context.getBean("rateLimitFilterBeforeAuthentication", FilterRegistrationBean.class)
                    .getFilter();
            assertThat(filter).isInstanceOf(RateLimitFilter.class);

            filter.doFilter(request, response, (passed, answer) -> {
                assertThat(afterResponse(context)).isTrue();
                assertThat(statuses).isEmpty();
                response.setStatus(204);
            });

            assertThat(statuses).containsExactly(204);
        });
    }

    /** As on a separate port for management. */
    @Test
    void statusIsNotKnownWhereNoFilterIs() {
        OtherLoginsTest.application()
                .run(context -> assertThat(afterResponse(context)).isFalse());
    }
}
