package dev.ratelimit.actuate;

import dev.ratelimit.operate.Operations;
import dev.ratelimit.operate.UnavailableException;
import dev.ratelimit.support.LogText;
import dev.ratelimit.support.OncePerMinute;
import java.security.Principal;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.springframework.boot.actuate.endpoint.SecurityContext;
import org.springframework.boot.actuate.endpoint.annotation.DeleteOperation;
import org.springframework.boot.actuate.endpoint.annotation.ReadOperation;
import org.springframework.boot.actuate.endpoint.annotation.Selector;
import org.springframework.boot.actuate.endpoint.annotation.Selector.Match;
import org.springframework.boot.actuate.endpoint.annotation.WriteOperation;
import org.springframework.boot.actuate.endpoint.web.WebEndpointResponse;
import org.springframework.boot.actuate.endpoint.web.annotation.EndpointWebExtension;
import org.springframework.core.NestedRuntimeException;

/**
 * The endpoint {@code ratelimit} on the web. The author of a change is the authenticated principal. A mistake is answered with
 * 400 and a message, whatever your application does with errors.
 */
@EndpointWebExtension(endpoint = RateLimitEndpoint.class)
public final class RateLimitEndpointWebExtension {

    private static final Logger log = LoggerFactory.getLogger(RateLimitEndpointWebExtension.class);

    private static final int CONFLICT = 409;

    /**
     * The answer to a request that fails.
     *
     * @param detail the value that is wrong, and the remedy
     */
    public record Refusal(int status, String detail) {}

    private final EndpointReads reads;
    private final EndpointWrites writes;
    private final OncePerMinute failures = new OncePerMinute();

    public RateLimitEndpointWebExtension(Operations operations) {
        this.reads = new EndpointReads(operations);
        this.writes = new EndpointWrites(operations);
    }

    /** See {@link RateLimitEndpoint#overview}. */
    @ReadOperation
    public WebEndpointResponse<Object> overview() {
        return answer(reads::overview);
    }

    /** See {@link RateLimitEndpoint#section}. */
    @ReadOperation
    public WebEndpointResponse<Object> section(
            @Selector String section,
            @Nullable String name,
            @Nullable String last,
            @Nullable String most,
            @Nullable String before,
            @Nullable String request,
            @Nullable String user,
            @Nullable String address,
            @Nullable String apiKey) {
        return answer(() -> section.equals(EndpointReads.EXPLAIN)
                ? reads.explain(request, user, address, apiKey)
                : reads.section(section, name, new EndpointReads.Rows(last, most, before)));
    }

    /** See {@link RateLimitEndpoint#one}. */
    @ReadOperation
    public WebEndpointResponse<Object> one(
            @Selector String section,
            @Selector(match = Match.ALL_REMAINING) String[] name,
            @Nullable String last,
            @Nullable String most,
            @Nullable String before,
            @Nullable String from,
            @Nullable String to) {
        return answer(
                () -> reads.one(section, String.join("/", name), new EndpointReads.Rows(last, most, before), from, to));
    }

    /** See {@link RateLimitEndpoint#changeSection}. */
    @WriteOperation
    public WebEndpointResponse<Object> changeSection(
            SecurityContext operator,
            @Selector String section,
            @Nullable String name,
            @Nullable String action,
            @Nullable String limit,
            @Nullable String duration,
            @Nullable String until,
            @Nullable String reason) {
        return answer(() -> writes.changeSection(
                section,
                name,
                new EndpointWrites.Task(action, null, null, limit),
                new EndpointWrites.Terms(author(operator), reason, duration, until)));
    }

    /** See {@link RateLimitEndpoint#change}. */
    @WriteOperation
    public WebEndpointResponse<Object> change(
            SecurityContext operator,
            @Selector String section,
            @Selector(match = Match.ALL_REMAINING) String[] name,
            @Nullable String action,
            @Nullable String properties,
            @Nullable String version,
            @Nullable String limit,
            @Nullable String duration,
            @Nullable String until,
            @Nullable String reason) {
        return answer(() -> writes.change(
                section,
                String.join("/", name),
                new EndpointWrites.Task(action, properties, version, limit),
                new EndpointWrites.Terms(author(operator), reason, duration, until)));
    }

    /** See {@link RateLimitEndpoint#remove}. */
    @DeleteOperation
    public WebEndpointResponse<Object> remove(
            SecurityContext operator,
            @Selector String section,
            @Selector(match = Match.ALL_REMAINING) String[] name,
            @Nullable String reason) {
        return answer(() -> writes.remove(
                section, String.join("/", name), new EndpointWrites.Terms(author(operator), reason, null, null)));
    }

    private static String author(SecurityContext operator) {
        Principal principal = operator.getPrincipal();
        String name = principal == null ? null : principal.getName();
        return name == null || name.isBlank() ? RateLimitEndpoint.NOBODY : name;
    }

    private WebEndpointResponse<Object> answer(Supplier<Object> operation) {
        try {
            return new WebEndpointResponse<>(operation.get());
        } catch (NotFoundException e) {
            return refusal(WebEndpointResponse.STATUS_NOT_FOUND, e);
        } catch (IllegalArgumentException e) {
            return refusal(WebEndpointResponse.STATUS_BAD_REQUEST, e);
        } catch (IllegalStateException e) {
            return refusal(CONFLICT, e);
        } catch (UnavailableException e) {
            return refusal(WebEndpointResponse.STATUS_SERVICE_UNAVAILABLE, e);
        } catch (NestedRuntimeException e) {
            // Of the database. Its message may hold statements and addresses, so it goes to the log only.
            if (failures.mayTell(e.getClass())) { // A script may ask again and again.
                log.warn(
                        "The database of the rate limits failed a request to the endpoint (logged once a minute at most)",
                        LogText.trace(e));
            }
            return new WebEndpointResponse<>(
                    new Refusal(
                            WebEndpointResponse.STATUS_SERVICE_UNAVAILABLE,
                            "the database did not answer as expected; the log of this instance has the cause"),
                    WebEndpointResponse.STATUS_SERVICE_UNAVAILABLE);
        }
    }

    private static WebEndpointResponse<Object> refusal(int status, RuntimeException why) {
        return new WebEndpointResponse<>(new Refusal(status, String.valueOf(why.getMessage())), status);
    }
}
