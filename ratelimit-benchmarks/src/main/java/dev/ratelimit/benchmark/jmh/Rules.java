package dev.ratelimit.benchmark.jmh;

import dev.ratelimit.FailurePolicy;
import dev.ratelimit.rule.Rule;
import dev.ratelimit.rule.RuleBook;
import java.util.ArrayList;
import java.util.List;
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

/** Finding the rules of a request among many. */
@State(Scope.Benchmark)
@BenchmarkMode(Mode.AverageTime)
@OutputTimeUnit(TimeUnit.MICROSECONDS)
public class Rules {

    @Param({"10", "100", "1000"})
    private int rules;

    private RuleBook book;
    private PathContainer path;

    @Setup
    public void compile() {
        List<Rule> all = new ArrayList<>();
        for (int i = 0; i < rules - 1; i++) {
            all.add(rule("rule" + i, "/api/area" + i + "/{id}/**"));
        }
        all.add(rule("all", "/api/**"));
        book = RuleBook.of(all);
        path = PathContainer.parsePath("/api/area" + rules / 2 + "/42/parts");
        if (book.match("GET", path).size() != 2) {
            throw new IllegalStateException("two rules match, not " + book.match("GET", path));
        }
    }

    private static Rule rule(String name, String path) {
        return new Rule(name, 0, path, Set.of("GET"), "user", List.of("limit"), FailurePolicy.OPEN);
    }

    @Benchmark
    public Object match() {
        return book.match("GET", path);
    }
}
