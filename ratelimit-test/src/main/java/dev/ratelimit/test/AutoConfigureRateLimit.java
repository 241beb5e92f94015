package dev.ratelimit.test;

import java.lang.annotation.Documented;
import java.lang.annotation.ElementType;
import java.lang.annotation.Inherited;
import java.lang.annotation.Retention;
import java.lang.annotation.RetentionPolicy;
import java.lang.annotation.Target;
import org.springframework.boot.autoconfigure.ImportAutoConfiguration;
import org.springframework.boot.test.context.PropertyMapping;

/**
 * Sets up the limits of a test. A {@code @SpringBootTest} has them without this annotation; a slice such as
 * {@code @WebMvcTest} has them only with it.
 *
 * <pre>{@code
 * @SpringBootTest
 * @AutoConfigureRateLimit(enabled = false)
 * class ImportTest {}
 * }</pre>
 */
@Target(ElementType.TYPE)
@Retention(RetentionPolicy.RUNTIME)
@Documented
@Inherited
@ImportAutoConfiguration
@PropertyMapping("ratelimit")
public @interface AutoConfigureRateLimit {

    /** Whether requests and annotated methods are limited. */
    boolean enabled() default true;

    /**
     * Whether to keep counts in memory, and to empty them before each test. With {@code false} the store of the
     * application's configuration is used, and you empty it.
     */
    @PropertyMapping(skip = PropertyMapping.Skip.YES)
    boolean replaceStore() default true;
}
