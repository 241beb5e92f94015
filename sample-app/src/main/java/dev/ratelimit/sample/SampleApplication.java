package dev.ratelimit.sample;

import org.springframework.boot.SpringApplication;
import org.springframework.boot.autoconfigure.SpringBootApplication;

/** The API of a play-by-post game and a page that tries it out: {@code http://localhost:8080/}. */
@SpringBootApplication(proxyBeanMethods = false)
class SampleApplication {

    public static void main(String[] args) {
        SpringApplication.run(SampleApplication.class, args);
    }
}
