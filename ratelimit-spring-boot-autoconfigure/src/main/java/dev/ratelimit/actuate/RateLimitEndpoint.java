package dev.ratelimit.actuate;

import dev.ratelimit.operate.Operations;
import org.jspecify.annotations.Nullable;
import org.springframework.boot.actuate.endpoint.annotation.DeleteOperation;
import org.springframework.boot.actuate.endpoint.annotation.Endpoint;
import org.springframework.boot.actuate.endpoint.annotation.ReadOperation;
import org.springframework.boot.actuate.endpoint.annotation.Selector;
import org.springframework.boot.actuate.endpoint.annotation.Selector.Match;
import org.springframework.boot.actuate.endpoint.annotation.WriteOperation;

/**
 * The endpoint {@code ratelimit}: shows limits, rules, subjects and requests, and changes them. {@code docs/endpoint.md} lists
 * its sections. All arguments are texts, since Spring Boot passes nothing else, and since mistakes in them are explained here.
 *
 * <p>This class serves JMX. {@link RateLimitEndpointWebExtension} serves the web, where operators have names.
 */
@Endpoint(id = "ratelimit")
public final class RateLimitEndpoint {

    /** The author of changes where nobody is authenticated. */
    static final String NOBODY = "unauthenticated (endpoint)";

    private final EndpointReads reads;
    private final EndpointWrites writes;

    public RateLimitEndpoint(Operations operations) {
        this.reads = new EndpointReads(operations);
        this.writes = new EndpointWrites(operations);
    }

    /** The state of this instance, and the sections. */
    @ReadOperation
    public Object overview() {
        return reads.overview();
    }

    /**
     * A section as a whole, or one thing of it whose name cannot be part of a path.
     *
     * @param name a name that has a character which servers refuse in paths, such as {@code DOMAIN\alice}
     * @param last the time to look back, such as {@code 1h}
     * @param most the largest number of rows
     * @param before for changes, the id of the oldest one that was seen
     * @param request the request to explain: {@code GET /api/games}, or a line that begins with {@code curl}
     * @param user for explain, the name of the user
     * @param address for explain, the address of the client
     * @param apiKey for explain, the id of the API key
     */
    @ReadOperation
    public Object section(
            @Selector String section,
            @Nullable String name,
            @Nullable String last,
            @Nullable String most,
            @Nullable String before,
            @Nullable String request,
            @Nullable String user,
            @Nullable String address,
            @Nullable String apiKey) {
        return section.equals(EndpointReads.EXPLAIN)
                ? reads.explain(request, user, address, apiKey)
                : reads.section(section, name, new EndpointReads.Rows(last, most, before));
    }

    /**
     * One thing of a section.
     *
     * @param name the name; the rest of the path
     * @param from the version to compare from
     * @param to the version to compare with
     */
    @ReadOperation
    public Object one(
            @Selector String section,
            @Selector(match = Match.ALL_REMAINING) String[] name,
            @Nullable String last,
            @Nullable String most,
            @Nullable String before,
            @Nullable String from,
            @Nullable String to) {
        return reads.one(section, String.join("/", name), new EndpointReads.Rows(last, most, before), from, to);
    }

    /**
     * Changes a section as a whole: switches everything, makes a backup, drops old months. Or changes one thing whose name cannot
     * be part of a path.
     *
     * @param name see {@link #section}
     */
    @WriteOperation
    public Object changeSection(
            @Selector String section,
            @Nullable String name,
            @Nullable String action,
            @Nullable String limit,
            @Nullable String duration,
            @Nullable String until,
            @Nullable String reason) {
        return writes.changeSection(
                section,
                name,
                new EndpointWrites.Task(action, null, null, limit),
                new EndpointWrites.Terms(NOBODY, reason, duration, until));
    }

    /**
     * Changes one thing of a section.
     *
     * @param action such as {@code set}, {@code off}, {@code on}, {@code roll-back}, {@code block}, {@code reset}
     * @param properties for set: lines such as {@code max-requests: 100}, or the same separated by {@code ;}
     * @param version for roll-back; for set, the version in force that the operator saw: zero for the configuration
     * @param limit for reset: the name of a limit; without it, all
     * @param duration how long the change lasts, such as {@code 1h}
     * @param until the moment of its end
     */
    @WriteOperation
    public Object change(
            @Selector String section,
            @Selector(match = Match.ALL_REMAINING) String[] name,
            @Nullable String action,
            @Nullable String properties,
            @Nullable String version,
            @Nullable String limit,
            @Nullable String duration,
            @Nullable String until,
            @Nullable String reason) {
        return writes.change(
                section,
                String.join("/", name),
                new EndpointWrites.Task(action, properties, version, limit),
                new EndpointWrites.Terms(NOBODY, reason, duration, until));
    }

    /** Removes one thing of a section: a stored limit or rule, a block, an API key, counts. */
    @DeleteOperation
    public Object remove(
            @Selector String section, @Selector(match = Match.ALL_REMAINING) String[] name, @Nullable String reason) {
        return writes.remove(section, String.join("/", name), new EndpointWrites.Terms(NOBODY, reason, null, null));
    }
}
