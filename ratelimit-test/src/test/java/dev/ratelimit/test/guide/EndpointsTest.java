package dev.ratelimit.test.guide;

// region test
import dev.ratelimit.test.RateLimitRules;
import org.junit.jupiter.api.Test;
import org.springframework.beans.factory.annotation.Autowired;
import org.springframework.boot.test.context.SpringBootTest;
import org.springframework.context.ApplicationContext;

@SpringBootTest
class EndpointsTest {

    @Test
    void everyEndpointIsLimited(@Autowired ApplicationContext context) {
        RateLimitRules.verifyEveryEndpointIsLimited(context);
    }
}
// endregion
