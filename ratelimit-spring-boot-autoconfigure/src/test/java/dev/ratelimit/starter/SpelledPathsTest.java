package dev.ratelimit.starter;

import static org.assertj.core.api.Assertions.assertThat;

import dev.ratelimit.RateLimiter;
import dev.ratelimit.Subject;
import dev.ratelimit.starter.RunningApplication.Container;
import jakarta.servlet.http.HttpServlet;
import jakarta.servlet.http.HttpServletRequest;
import jakarta.servlet.http.HttpServletResponse;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.TreeMap;
import java.util.random.RandomGenerator;
import java.util.random.RandomGeneratorFactory;
import java.util.regex.MatchResult;
import java.util.regex.Pattern;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.springframework.boot.web.servlet.ServletRegistrationBean;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.web.bind.annotation.RequestMapping;
import org.springframework.web.bind.annotation.RestController;

/** Paths in thousands of random spellings: each one that a handler serves is counted exactly once by the rule for that handler. */
class SpelledPathsTest {

    private static final long MANY = 1_000_000;
    private static final Pattern HANDLER = Pattern.compile("(?m)^Handler: (\\w+)\r?$");

    @Configuration(proxyBeanMethods = false)
    @WithoutSecurity
    static class Application {

        @Bean
        ServletRegistrationBean<HttpServlet> own() {
            return new ServletRegistrationBean<>(
                    new HttpServlet() {
                        @Override
                        protected void service(HttpServletRequest request, HttpServletResponse response) {
                            boolean pays = "/pay".equals(request.getPathInfo());
                            response.setHeader("Handler", pays ? "own" : "none");
                        }
                    },
                    "/own/*");
        }

        @RestController
        static class Handlers {

            @RequestMapping("/api/pay")
            void pay(HttpServletResponse response) {
                response.setHeader("Handler", "pay");
            }

            @RequestMapping("/api/{id}/parts")
            void parts(HttpServletResponse response) {
                response.setHeader("Handler", "parts");
            }

            @RequestMapping("/files/**")
            void files(HttpServletResponse response) {
                response.setHeader("Handler", "files");
            }

            @RequestMapping("/b c/ü")
            void letters(HttpServletResponse response) {
                response.setHeader("Handler", "letters");
            }

            @RequestMapping("/other/**")
            void other(HttpServletResponse response) {
                response.setHeader("Handler", "none");
            }
        }
    }

    private RandomGenerator random;

    @ParameterizedTest
    @CsvSource({"TOMCAT, '', ''", "TOMCAT, /shop, /app", "JETTY, '', ''", "JETTY, /shop, /app"})
    void pathThatAHandlerServesIsCountedOnce(Container container, String context, String servlet) throws Exception {
        long seed = Long.getLong("ratelimit.test.seed", System.nanoTime());
        random = RandomGeneratorFactory.of("L64X128MixRandom").create(seed);
        Map<String, String> rules = new LinkedHashMap<>();
        rules.put("pay", servlet + "/api/pay");
        rules.put("parts", servlet + "/api/{id}/parts");
        rules.put("files", servlet + "/files/**");
        rules.put("letters", servlet + "/b c/ü");
        rules.put("own", "/own/pay");
        List<String> sent = List.of(
                servlet + "/api/pay",
                servlet + "/api/7/parts",
                servlet + "/files/a/b",
                servlet + "/b%20c/%C3%BC",
                "/own/pay");
        Map<String, Integer> served = new TreeMap<>();
        try (RunningApplication application =
                RunningApplication.start(container, List.of(Application.class), settings(context, servlet, rules))) {
            RateLimiter limiter = application.bean(RateLimiter.class);
            for (int i = 0; i < 2_000; i++) {
                String path = context + pick(sent);
                for (int times = random.nextInt(1, 3); times > 0; times--) {
                    path = spelled(path, context, servlet);
                }
                Map<String, Long> before = counted(limiter, rules);
                String answer = application.raw(pick(List.of("GET", "HEAD")) + " " + path + " HTTP/1.1");
                MatchResult handler =
                        HANDLER.matcher(answer).results().findFirst().orElse(null);
                if (handler != null && rules.containsKey(handler.group(1))) {
                    String name = handler.group(1);
                    served.merge(name, 1, Integer::sum);
                    assertThat(counted(limiter, rules).get(name) - before.get(name))
                            .as("seed %s, %s: %s", seed, path, answer)
                            .isEqualTo(1);
                }
            }
        }
        System.out.printf("served %s (%s %s%s, seed %d)%n", served, container, context, servlet, seed);
        assertThat(served).containsOnlyKeys(rules.keySet());
        assertThat(served.values()).allMatch(times -> times > 5);
    }

    private static Map<String, Long> counted(RateLimiter limiter, Map<String, String> rules) {
        Map<String, Long> counted = new TreeMap<>();
        for (String name : rules.keySet()) {
            counted.put(name, MANY - limiter.peek(Subject.ip("127.0.0.1"), name).remaining());
        }
        return counted;
    }

    private static String[] settings(String context, String servlet, Map<String, String> rules) {
        List<String> settings = new ArrayList<>(List.of("ratelimit.store.type=memory"));
        if (!context.isEmpty()) {
            settings.add("server.servlet.context-path=" + context);
        }
        if (!servlet.isEmpty()) {
            settings.add("spring.mvc.servlet.path=" + servlet);
        }
        rules.forEach((name, path) -> settings.addAll(List.of(
                "ratelimit.limits." + name + ".algorithm=fixed-window",
                "ratelimit.limits." + name + ".max-requests=" + MANY,
                "ratelimit.limits." + name + ".window=3660d",
                "ratelimit.rules." + name + ".path=" + path,
                "ratelimit.rules." + name + ".methods=GET",
                "ratelimit.rules." + name + ".key=ip",
                "ratelimit.rules." + name + ".limits=" + name)));
        return settings.toArray(String[]::new);
    }

    /** The same path as something behind the filters may read it, or nearly. */
    private String spelled(String path, String context, String servlet) {
        int slash = slashIn(path);
        String start = path.substring(0, slash);
        String rest = path.substring(slash);
        int at = random.nextInt(path.length());
        return switch (random.nextInt(15)) {
            case 0 -> start + "/" + rest;
            case 1 -> start + pick(List.of("/.", "/./.", "/%2e", "/;", "/;x", "/;x=%2e%2e", "/%2E;y")) + rest;
            case 2 ->
                start
                        + pick(List.of(
                                "/x/..", "/x/%2e%2e", "/x/.%2E", "/x/..;", "/x/%2e;/..", "/other/x/../..", "//x/.."))
                        + rest;
            case 3 -> start + pick(List.of(";", ";a=b", ";a=/b", ";%2f", ";a=b;c", ";jsessionid=1")) + rest;
            case 4 -> encoded(path, at, "%%%02X");
            case 5 -> encoded(path, at, "%%%02x");
            case 6 ->
                path
                        + pick(List.of(
                                "/", "//", "/.", "/..", ";", "%20", "%00", ".", "?", "?a=b", "#", "%3f", "%3b", "/;",
                                ".json"));
            case 7 -> start + pick(List.of("%2f", "%5c", "\\", "%252f", "%c0%af", "%2F/")) + rest.substring(1);
            case 8 -> path.substring(0, at) + path.substring(at).toUpperCase(Locale.ROOT);
            case 9 -> "/" + path;
            case 10 -> within(path, context);
            case 11 -> within(path, servlet);
            case 12 -> path.replace("%C3%BC", pick(List.of("\u00c3\u00bc", "%c3%bc", "u%CC%88", "\u00fc")));
            case 13 -> path.replace("/api/", "/api/" + pick(List.of("pay/../", "pay;/../", "%70ay/%2e%2e/")));
            default ->
                path.replace("/own/", pick(List.of("/own//", "/own/./", "/%6fwn/", "/own;/", "/own/;/", "/own%2f")));
        };
    }

    private String within(String path, String part) {
        if (part.isEmpty()) {
            return path;
        }
        String encoded = part.replace("p", "%70");
        return path.replace(
                part, pick(List.of(encoded, "/" + part, "/." + part, "/x/.." + part, part + ";a", part + "/.")));
    }

    private int slashIn(String path) {
        List<Integer> slashes = new ArrayList<>();
        for (int i = 0; i < path.length(); i++) {
            if (path.charAt(i) == '/') {
                slashes.add(i);
            }
        }
        return slashes.isEmpty() ? 0 : pick(slashes);
    }

    private static String encoded(String path, int at, String format) {
        char letter = path.charAt(at);
        return letter == '%' || letter > '~'
                ? path
                : path.substring(0, at) + String.format(format, (int) letter) + path.substring(at + 1);
    }

    private <T> T pick(List<T> from) {
        return from.get(random.nextInt(from.size()));
    }
}
