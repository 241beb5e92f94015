package dev.ratelimit.gate;

import dev.ratelimit.Decision;
import dev.ratelimit.Limit;
import dev.ratelimit.LimitRequest;
import dev.ratelimit.caller.Accounts;
import dev.ratelimit.policy.Policies;
import java.time.InstantSource;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/**
 * The one way of a request past all limits and rules, whether it is real, only asks for the remaining quota, or is explained. The
 * gate does no I/O and is safe for use by many threads. Each request has a {@link Visit} of its own.
 *
 * <p>Beans of the application are called during the walk: those of a {@code condition} and of a {@code key: bean:NAME}, through
 * {@link LiveRequest}, and {@link Accounts}. They may do whatever they like there, so let them answer from memory.
 *
 * <pre>{@code
 * Visit visit = gate.visit(arrival, Mode.CHARGE);
 * Instruction next = visit.arrive();          // before authentication
 * while (next instanceof Instruction.Ask ask) {
 *     next = visit.answered(limiter.decide(ask.limits()), took);
 * }
 * next = visit.identified(identity);          // after it; and so on
 * RequestRecord record = visit.completed(status, endpoint);
 * }</pre>
 */
public final class Gate {

    /** Why a request walks through. */
    public enum Mode {
        /** It is a real request. */
        CHARGE,
        /** The caller asks what remains. The walk goes on after a rejection, so that every limit is asked. */
        PEEK,
        /** An operator asks what would happen. The walk goes on after a rejection, so that every rule is evaluated. */
        EXPLAIN
    }

    /**
     * How unknown API keys are limited.
     *
     * @param limit the limit of an address on unknown keys
     * @param remembered the denial that this instance remembers of a request, or {@code null}
     */
    public record ApiKeyGuesses(Limit limit, Function<LimitRequest, @Nullable Decision> remembered) {}

    final Policies policies;
    final Accounts accounts;
    final Blocks blocks;
    final Exemptions exemptions;
    final Subjects subjects;
    final @Nullable ApiKeyGuesses guesses;
    final InstantSource clock;

    /**
     * @param guesses how unknown API keys are limited, or {@code null} if API keys are not checked
     */
    public Gate(
            Policies policies,
            Accounts accounts,
            Exemptions exemptions,
            Subjects subjects,
            @Nullable ApiKeyGuesses guesses,
            InstantSource clock) {
        this.policies = policies;
        this.accounts = accounts;
        this.blocks = new Blocks(accounts, clock);
        this.exemptions = exemptions;
        this.subjects = subjects;
        this.guesses = guesses;
        this.clock = clock;
    }

    public Subjects subjects() {
        return subjects;
    }

    /** The visit of one request. */
    public Visit visit(Arrival arrival, Mode mode) {
        return new Visit(this, arrival, mode);
    }
}
