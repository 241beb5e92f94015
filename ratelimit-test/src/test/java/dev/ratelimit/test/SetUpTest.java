package dev.ratelimit.test;

import static dev.ratelimit.test.assertion.RateLimitAssertions.assertThatRequest;
import static org.assertj.core.api.Assertions.assertThat;

import dev.ratelimit.connection.AwaitedLimitStore;
import dev.ratelimit.store.LimitStore;
import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.api.Nested;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.springframework.beans.factory.annotation.Autowired;
import org.springframework.boot.test.context.SpringBootTest;
import org.springframework.boot.webmvc.test.autoconfigure.AutoConfigureMockMvc;
import org.springframework.boot.webmvc.test.autoconfigure.WebMvcTest;
import org.springframework.core.env.Environment;
import org.springframework.test.annotation.DirtiesContext;
import org.springframework.test.context.ContextConfiguration;
import org.springframework.test.context.DynamicPropertyRegistry;
import org.springframework.test.context.DynamicPropertySource;
import org.springframework.test.web.servlet.assertj.MockMvcTester;

/** The ways to set up a test: {@link AutoConfigureRateLimit}, slices, a store of the test's own. */
class SetUpTest {

    @Nested
    @SpringBootTest(classes = Shop.class)
    @AutoConfigureMockMvc
    @AutoConfigureRateLimit(enabled = false)
    class SwitchedOff {

        @Test
        void nothingIsLimited(@Autowired MockMvcTester mvc) {
            assertThatRequest(mvc.get().uri("/goods")).isNotLimitedFor(20);
            assertThatRequest(mvc.post().uri("/login")).isNotLimitedFor(20);
        }
    }

    @Nested
    @WebMvcTest(Shop.Goods.class)
    @ContextConfiguration(classes = Shop.class)
    @AutoConfigureRateLimit
    class Slice {

        @Test
        void hasLimits(@Autowired MockMvcTester mvc) {
            assertThatRequest(mvc.get().uri("/goods")).isLimitedAfter(5);
            assertThatRequest(mvc.post().uri("/login")).isLimitedAfter(3);
        }
    }

    @Nested
    @WebMvcTest(Shop.Goods.class)
    @ContextConfiguration(classes = Shop.class)
    class SliceWithoutTheAnnotation {

        @Test
        void hasNone(@Autowired MockMvcTester mvc) {
            assertThatRequest(mvc.get().uri("/goods")).isNotLimitedFor(6);
        }
    }

    /** As an application.yaml would say; the properties of a test have more weight. */
    @Nested
    @SpringBootTest(classes = Shop.class, args = "--spring.config.location=classpath:on-postgresql.properties")
    @AutoConfigureMockMvc
    class ConfiguredForProduction {

        @Test
        void isInMemoryNonetheless(@Autowired MockMvcTester mvc, @Autowired LimitStore store) {
            assertThat(store).isInstanceOf(FaultyStore.class);
            assertThatRequest(mvc.get().uri("/goods")).isLimitedAfter(5);
        }
    }

    /** A store that is awaited is not taken for one that is there. */
    @Nested
    @SpringBootTest(
            classes = Shop.class,
            properties = {
                "ratelimit.store.type=postgresql",
                "ratelimit.store.postgresql.url=jdbc:postgresql://127.0.0.1:1/none",
                "ratelimit.store.required=false"
            })
    @AutoConfigureMockMvc
    @AutoConfigureRateLimit(replaceStore = false)
    class DatabaseThatIsDown {

        @Test
        void isAwaited(@Autowired MockMvcTester mvc, @Autowired LimitStore store) {
            assertThat(AwaitedLimitStore.isAvailable(store)).isFalse();
            assertThat(mvc.get().uri("/strict")).hasStatus(503);
            assertThat(mvc.get().uri("/goods")).hasStatusOk();
        }
    }

    abstract static class OnAFile {

        @TempDir
        static Path folder;

        @DynamicPropertySource
        static void file(DynamicPropertyRegistry properties) {
            properties.add(
                    "ratelimit.store.sqlite.path",
                    () -> folder.resolve("own.db").toString());
        }
    }

    @Nested
    @SpringBootTest(classes = Shop.class, properties = "ratelimit.store.type=sqlite")
    @AutoConfigureMockMvc
    @DirtiesContext // closes the file before its folder is deleted
    class StoreOfTheTest extends OnAFile {

        @Autowired
        MockMvcTester mvc;

        @Autowired
        RateLimitClock clock;

        @Autowired
        RateLimitFaults faults;

        @Test
        void isUsedWithTheClockAndTheFaults() {
            assertThatRequest(mvc.get().uri("/goods")).isLimitedAfter(5);
            assertThat(Files.exists(folder.resolve("own.db"))).isTrue();
            clock.advance("1m");
            assertThatRequest(mvc.get().uri("/goods")).hasRemaining(4);
            faults.storeIsDown();
            assertThat(mvc.get().uri("/strict")).hasStatus(503);
        }
    }

    @Nested
    @SpringBootTest(classes = Shop.class, args = "--spring.config.location=classpath:in-memory.properties")
    @AutoConfigureMockMvc
    @AutoConfigureRateLimit(replaceStore = false)
    class StoreOfTheConfiguration {

        @Test
        void isKept(@Autowired Environment environment, @Autowired MockMvcTester mvc) {
            assertThat(environment.getProperty("ratelimit.store.type")).isEqualTo("memory");
            assertThatRequest(mvc.get().uri("/goods")).isLimitedAfter(5);
        }
    }
}
