package dev.ratelimit.sample;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.InputStream;
import java.net.URL;
import java.util.Collections;
import java.util.List;
import java.util.Properties;
import org.junit.jupiter.api.Test;

/** The libraries that the starter adds to the class path of an application. */
class StarterDependenciesTest {

    /**
     * Spring Data counts these entries. If an application with JPA finds a second one, it enters "strict repository
     * configuration mode", and repositories of classes that are no entities are lost.
     */
    @Test
    void starterBringsNoModuleOfSpringData() throws Exception {
        List<URL> all = Collections.list(getClass().getClassLoader().getResources("META-INF/spring.factories"));
        assertThat(all).isNotEmpty();
        for (URL url : all) {
            if (url.getPath().matches(".*/spring-data-(redis|keyvalue)-.*")) {
                continue; // come with ratelimit-redis
            }
            Properties factories = new Properties();
            try (InputStream file = url.openStream()) {
                factories.load(file);
            }
            assertThat(factories)
                    .as(url.toString())
                    .doesNotContainKey("org.springframework.data.repository.core.support.RepositoryFactorySupport");
        }
    }
}
