package dev.ratelimit.dashboard;

import dev.ratelimit.operate.UnavailableException;
import dev.ratelimit.setting.InvalidSettingException;
import dev.ratelimit.support.LogText;
import dev.ratelimit.support.OncePerMinute;
import jakarta.servlet.http.HttpServletRequest;
import java.io.IOException;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.springframework.http.HttpHeaders;
import org.springframework.web.servlet.function.HandlerFunction;
import org.springframework.web.servlet.function.ServerRequest;
import org.springframework.web.servlet.function.ServerResponse;
import tools.jackson.databind.JsonNode;

/** Gives each call its operator, the protection of writes, and its answer in JSON, also if it fails. */
final class Calls {

    /** Reads something. */
    interface Read {
        @Nullable
        Object of(ServerRequest request);
    }

    /** Changes something. */
    interface Write {
        @Nullable
        Object of(ServerRequest request, JsonNode body, Operator operator);
    }

    private interface Work {
        @Nullable
        Object run() throws IOException;
    }

    private static final Logger log = LoggerFactory.getLogger(Calls.class);

    private final Access access;
    private final Forgeries forgeries = new Forgeries();
    private final OncePerMinute complaints = new OncePerMinute();
    private final Json json = new Json();

    Calls(Access access) {
        this.access = access;
    }

    /** Admits operators only. */
    HandlerFunction<ServerResponse> page(HandlerFunction<ServerResponse> handler) {
        return request -> {
            try {
                Operator unused = operatorOf(request);
            } catch (RefusedException e) {
                return refused(e.status(), e.text(), null);
            }
            return handler.handle(request);
        };
    }

    HandlerFunction<ServerResponse> read(Read read) {
        return request -> answer(Map.of(), () -> {
            Operator unused = operatorOf(request);
            return read.of(request);
        });
    }

    HandlerFunction<ServerResponse> write(Write write) {
        return post(write, true);
    }

    /** A question with a body, which viewers may ask, too: it may have secrets in it that belong into no URL. */
    HandlerFunction<ServerResponse> ask(Write question) {
        return post(question, false);
    }

    private HandlerFunction<ServerResponse> post(Write work, boolean steers) {
        return request -> answer(Map.of(), () -> {
            Operator operator = operatorOf(request);
            forgeries.require(request.servletRequest());
            if (steers && !operator.maySteer()) {
                throw RefusedException.of(403, "You may look, but not change anything.");
            }
            return work.of(request, json.read(request.servletRequest()), operator);
        });
    }

    /**
     * Tells the page who uses it, and the tokens to send with writes.
     *
     * @param about further facts
     */
    HandlerFunction<ServerResponse> session(Supplier<Map<String, Object>> about) {
        return request -> {
            HttpServletRequest servlet = request.servletRequest();
            String token = forgeries.tokenOf(servlet);
            return answer(cookieOf(token, servlet), () -> {
                Operator operator = operatorOf(request);
                Map<String, @Nullable Object> session = new LinkedHashMap<>(about.get());
                session.put("user", operator.name());
                session.put("maySteer", operator.maySteer());
                session.put("token", token);
                session.put("csrf", SpringCsrf.headerOf(servlet));
                return session;
            });
        };
    }

    /** The header with the token of the browser. With the page, it is sent for all paths below it. */
    Map<String, String> cookieOf(ServerRequest request) {
        HttpServletRequest servlet = request.servletRequest();
        return cookieOf(forgeries.tokenOf(servlet), servlet);
    }

    private static Map<String, String> cookieOf(String token, HttpServletRequest request) {
        return Map.of(HttpHeaders.SET_COOKIE, Forgeries.cookie(token, request.isSecure()));
    }

    private Operator operatorOf(ServerRequest request) {
        Operator operator = access.operatorOf(request.servletRequest());
        Door.admit(request.servletRequest());
        return operator;
    }

    private ServerResponse answer(Map<String, String> headers, Work work) throws IOException {
        try {
            Map<String, String> all = new LinkedHashMap<>(headers);
            all.put(HttpHeaders.CACHE_CONTROL, Answers.NO_STORE);
            Object result = work.run();
            return Answers.of(200, Json.TYPE, json.write(result == null ? Map.of() : result), all);
        } catch (RefusedException e) {
            return refused(e.status(), e.text(), e.field());
        } catch (InvalidSettingException e) {
            return refused(422, RefusedException.sentence(e.advice()), e.property());
        } catch (IllegalArgumentException e) {
            return refused(422, RefusedException.sentence(e.getMessage()), null);
        } catch (UnavailableException e) {
            return refused(503, RefusedException.sentence(e.getMessage()), null);
        } catch (IllegalStateException e) {
            return refused(409, RefusedException.sentence(e.getMessage()), null);
        } catch (RuntimeException e) {
            if (Access.isForSecurity(e)) {
                throw e;
            }
            if (complaints.mayTell(e.getClass())) { // An open page asks again and again.
                log.warn(
                        "The dashboard could not read or change rate limits (logged once a minute at most)",
                        LogText.trace(e));
            }
            return refused(503, "The database did not answer as expected. See the log of the application.", null);
        }
    }

    private ServerResponse refused(int status, String detail, @Nullable String field) {
        Map<String, Object> problem = new LinkedHashMap<>();
        problem.put("status", status);
        problem.put("detail", detail);
        if (field != null) {
            problem.put("field", field);
        }
        Map<String, String> headers = Map.of(HttpHeaders.CACHE_CONTROL, Answers.NO_STORE);
        return Answers.of(status, Json.PROBLEM, json.write(problem), headers);
    }
}
