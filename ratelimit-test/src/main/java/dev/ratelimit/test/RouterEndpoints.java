package dev.ratelimit.test;

import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.HashSet;
import java.util.Iterator;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.function.Function;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;
import org.springframework.core.io.Resource;
import org.springframework.http.HttpMethod;
import org.springframework.web.servlet.function.HandlerFunction;
import org.springframework.web.servlet.function.RequestPredicate;
import org.springframework.web.servlet.function.RequestPredicates;
import org.springframework.web.servlet.function.RouterFunction;
import org.springframework.web.servlet.function.RouterFunctions;
import org.springframework.web.servlet.function.ServerRequest;

/** Collects the endpoints of router functions, as far as their predicates name a path. Static resources are left out. */
final class RouterEndpoints implements RouterFunctions.Visitor {

    private final Deque<RequestPredicate> around = new ArrayDeque<>();
    private final List<Endpoint> found = new ArrayList<>();

    /**
     * An endpoint.
     *
     * @param methods none if it takes any
     * @param path {@code null} if its predicate is of a kind that names no single path
     * @param predicate as it is shown to people
     */
    record Endpoint(Set<String> methods, @Nullable String path, String predicate) {}

    static List<Endpoint> of(@Nullable RouterFunction<?> functions) {
        RouterEndpoints endpoints = new RouterEndpoints();
        if (functions != null) {
            functions.accept(endpoints);
        }
        return endpoints.found;
    }

    @Override
    public void startNested(RequestPredicate predicate) {
        around.addLast(predicate);
    }

    @Override
    public void endNested(RequestPredicate predicate) {
        around.removeLast();
    }

    @Override
    public void route(RequestPredicate predicate, HandlerFunction<?> handler) {
        List<RequestPredicate> all = new ArrayList<>(around);
        all.add(predicate);
        Reading reading = new Reading();
        all.forEach(reading::read);
        found.add(new Endpoint(
                reading.methods,
                reading.path(),
                all.stream().map(String::valueOf).collect(Collectors.joining(" => "))));
    }

    @Override
    public void resources(Function<ServerRequest, Optional<Resource>> lookup) {}

    @Override
    public void attributes(Map<String, Object> attributes) {}

    @Override
    public void unknown(RouterFunction<?> function) {
        found.add(new Endpoint(Set.of(), null, String.valueOf(function)));
    }

    /** The path and methods of predicates that must all hold. Other conditions only narrow them. */
    private static final class Reading implements RequestPredicates.Visitor {

        private final List<String> paths = new ArrayList<>();
        private final Set<String> methods = new HashSet<>();
        private boolean readable = true;

        void read(RequestPredicate predicate) {
            predicate.accept(this);
        }

        /** Joins nested paths; {@code null} if there is none, or more than one that may hold. */
        @Nullable
        String path() {
            if (!readable || paths.isEmpty()) {
                return null;
            }
            StringBuilder path = new StringBuilder();
            for (Iterator<String> parts = paths.iterator(); parts.hasNext(); ) {
                String part = parts.next();
                path.append(parts.hasNext() ? part.replaceAll("/(\\*\\*)?$", "") : part);
            }
            return path.toString();
        }

        @Override
        public void method(Set<HttpMethod> allowed) {
            allowed.forEach(method -> methods.add(method.name()));
        }

        @Override
        public void path(String pattern) {
            paths.add(pattern);
        }

        @Override
        public void startOr() {
            readable = false;
        }

        @Override
        public void startNegate() {
            readable = false;
        }

        @Override
        public void unknown(RequestPredicate predicate) {
            readable = false;
        }

        @Override
        @SuppressWarnings("removal") // the interface has it as long as Spring does
        public void pathExtension(String extension) {}

        @Override
        public void header(String name, String value) {}

        @Override
        public void param(String name, String value) {}

        @Override
        public void version(String version) {}

        @Override
        public void startAnd() {}

        @Override
        public void and() {}

        @Override
        public void endAnd() {}

        @Override
        public void or() {}

        @Override
        public void endOr() {}

        @Override
        public void endNegate() {}
    }
}
