package dev.ratelimit.benchmark.jmh;

import dev.ratelimit.IpAddress;
import dev.ratelimit.caller.Caller;
import dev.ratelimit.caller.TierChoice;
import dev.ratelimit.policy.Action;
import dev.ratelimit.policy.LimitBook;
import dev.ratelimit.policy.RequestFacts;
import dev.ratelimit.policy.Rule;
import dev.ratelimit.policy.RuleBook;
import dev.ratelimit.policy.RuleBook.MatchMode;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.TimeUnit;
import org.openjdk.jmh.annotations.Benchmark;
import org.openjdk.jmh.annotations.BenchmarkMode;
import org.openjdk.jmh.annotations.Mode;
import org.openjdk.jmh.annotations.OutputTimeUnit;
import org.openjdk.jmh.annotations.Param;
import org.openjdk.jmh.annotations.Scope;
import org.openjdk.jmh.annotations.Setup;
import org.openjdk.jmh.annotations.State;
import org.springframework.http.server.PathContainer;
import org.springframework.web.util.pattern.PathPatternParser;

/** Finding the rules of a request among many: nine of ten are for a path, one blocks a range of addresses everywhere. */
@State(Scope.Benchmark)
@BenchmarkMode(Mode.AverageTime)
@OutputTimeUnit(TimeUnit.MICROSECONDS)
public class Rules {

    @Param({"10", "100", "1000"})
    private int rules;

    private RuleBook book;
    private RequestFacts request;

    @Setup
    public void compile() {
        List<Rule> all = new ArrayList<>();
        for (int i = 0; i < rules - 1; i++) {
            all.add(i % 10 == 0 ? blocking(i) : throttling("rule" + i, "/api/area" + i + "/{id}/**"));
        }
        all.add(throttling("all", "/api/**"));
        book = RuleBook.of(
                all,
                LimitBook.of(Map.of("limit", Map.of("algorithm", "fixed-window", "max-requests", "5", "window", "1m"))),
                MatchMode.ALL,
                PathPatternParser.defaultInstance);
        request = new RequestFacts(
                "GET",
                false,
                List.of(PathContainer.parsePath("/api/area" + (rules / 2 + 1) + "/42/parts")),
                IpAddress.parse("192.0.2.7"),
                null,
                new Caller("alice", TierChoice.byDefault("free"), Set.of("ROLE_USER"), List.of(), null, null),
                rule -> false);
        if (book.match(request).rules().size() != 2) {
            throw new IllegalStateException(
                    "two rules match, not " + book.match(request).rules());
        }
    }

    private static Rule blocking(int number) {
        return Rule.named("blocked" + number)
                .addresses("10." + number / 256 + "." + number % 256 + ".0/24")
                .action(Action.BLOCK)
                .build();
    }

    private static Rule throttling(String name, String path) {
        return Rule.named(name).path(path).methods("GET").limits("limit").build();
    }

    @Benchmark
    public Object match() {
        return book.match(request);
    }
}
