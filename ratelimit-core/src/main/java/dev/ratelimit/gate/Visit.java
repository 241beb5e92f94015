package dev.ratelimit.gate;

import dev.ratelimit.Decision;
import dev.ratelimit.Limit;
import dev.ratelimit.LimitDecision;
import dev.ratelimit.LimitRequest;
import dev.ratelimit.Outcome;
import dev.ratelimit.RequestRecord;
import dev.ratelimit.RequestRecord.Asked;
import dev.ratelimit.Subject;
import dev.ratelimit.caller.ApiKey;
import dev.ratelimit.caller.Caller;
import dev.ratelimit.gate.Gate.ApiKeyGuesses;
import dev.ratelimit.gate.Gate.Mode;
import dev.ratelimit.policy.Action;
import dev.ratelimit.policy.Policy;
import dev.ratelimit.policy.RequestFacts;
import dev.ratelimit.policy.Rule;
import dev.ratelimit.policy.Rule.Response;
import dev.ratelimit.policy.RuleBook;
import dev.ratelimit.policy.RuleMatch;
import dev.ratelimit.policy.SubjectKey;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Objects;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/**
 * One request at the {@link Gate}.
 *
 * <ol>
 *   <li>{@link #arrive()}: an exempt path or address passes. An API key that is not valid is counted against the address and
 *       rejected. The rules that need no user are walked, and their limits asked.
 *   <li>{@link #answered}: denied, the request is rejected; else it goes on.
 *   <li>{@link #identified}: an exempt user passes, and a blocked one is rejected. The remaining rules are walked, and their
 *       limits asked.
 *   <li>{@link #answered}, as before. If limits reject the request now, its charge on arrival is given back.
 *   <li>{@link #completed}: the record of the request.
 * </ol>
 *
 * A request that is rejected with 401 or 403, by authentication or by a block, keeps its charge: otherwise no address limit would stop anyone from
 * guessing. So does one whose sender is unknown. The calls for one request come one after another; records may be added by
 * several threads.
 */
public final class Visit {

    private final Gate gate;
    private final Mode mode;
    private final Instant at;
    private final Sender sender;
    private Arrival arrival;
    private boolean unknownKey;

    private @Nullable Policy policy;
    private @Nullable RequestFacts facts;
    private @Nullable RuleMatch match;
    private boolean pastArrival;

    /** The limits that were asked last and are not answered yet, with the rules that brought them in. */
    private @Nullable LimitRequest asking;

    private List<Rule> askingRules = List.of();
    private boolean revocable;

    private final AskedLimits asked = new AskedLimits();

    private boolean exempt;
    private @Nullable Rejection rejection;
    private @Nullable Instant blockedUntil;
    private List<RuleBook.WalkedRule> explained = List.of();

    Visit(Gate gate, Arrival arrival, Mode mode) {
        this.gate = gate;
        this.sender = new Sender(gate, arrival);
        this.arrival = arrival;
        this.mode = mode;
        this.at = gate.clock.instant();
    }

    /** The first instruction for the request, before authentication. */
    public Instruction arrive() {
        if (gate.exemptions.exempt(arrival) || isOff()) {
            exempt = true;
            if (mode != Mode.EXPLAIN) {
                return Instruction.Pass.AT_ONCE;
            }
        }
        Instruction withoutValidKey = readApiKey();
        return withoutValidKey != null ? withoutValidKey : walk();
    }

    /** Whether an operator has switched everything off. */
    private boolean isOff() {
        return gate.policies.current().limits().isOff();
    }

    /** If the address has used up its guesses, its key is not looked up. */
    private @Nullable Instruction readApiKey() {
        if (!presentsApiKey()) {
            return null;
        }
        ApiKeyGuesses guesses = gate.guesses;
        Subject address = sender.addressSubject();
        LimitRequest guess = guesses == null || address == null ? null : RuleLimits.NONE.and(address, guesses.limit());
        Decision denied =
                guess == null || guesses == null ? null : guesses.remembered().apply(guess);
        if (guess != null && denied != null) {
            add(guess, denied, Duration.ZERO);
            if (reject(Rejection.of(denied)) instanceof Instruction.Reject no) {
                return no;
            }
        }
        if (sender.lookUpApiKey() != null) {
            return null;
        }
        unknownKey = true;
        if (guess != null && denied == null) {
            return ask(guess, List.of(), false);
        }
        Instruction rejected = reject(Rejection.unknownApiKey());
        return rejected instanceof Instruction.Reject ? rejected : null;
    }

    private Instruction walk() {
        RuleMatch found = match();
        return decide(policy(), found, mode == Mode.CHARGE && found.isOpen());
    }

    /** Compares the rules with everything that is known before authentication. */
    private RuleMatch match() {
        Policy inForce = policySoFar();
        LiveRequest live = arrival.live();
        policy = inForce;
        facts = new RequestFacts(
                arrival.method(),
                arrival.preflight(),
                arrival.path().all(),
                arrival.address(),
                sender.apiKey(),
                null,
                live == null ? null : live::isTrue);
        match = inForce.rules().match(facts);
        return match;
    }

    /**
     * The next instruction if the path or the method was replaced between arrival and authentication. Limits that were asked before
     * are not asked again. An exempt path does not exempt the one that replaces it.
     */
    public Instruction rerouted(Arrival replaced, Identity who) {
        sender.identified(who);
        sender.arrived(replaced);
        boolean apiKeyWasRead = !exempt;
        arrival = replaced;
        pastArrival = true;
        exempt = gate.exemptions.exempt(replaced);
        if (exempt) {
            return Instruction.Pass.AT_ONCE;
        }
        return apiKeyWasRead ? walk() : arrive();
    }

    /**
     * The next instruction after authentication, also for an anonymous request. If an application calls it before
     * {@link #arrive()}, that method still walks the rules that need no user.
     */
    public Instruction identified(Identity who) {
        sender.identified(who);
        pastArrival = true;
        exempt |= gate.exemptions.exempt(who.authorities()) || isOff();
        if (mode != Mode.EXPLAIN && exempt) {
            return Instruction.Pass.AT_ONCE;
        }
        RuleMatch begun = match == null ? match() : match;
        blockedUntil = gate.blocks.blockedUntil(who.user(), sender.apiKey());
        if (blockedUntil != null) {
            Duration rest = Duration.between(gate.clock.instant(), blockedUntil);
            if (reject(Rejection.blocked(rest)) instanceof Instruction.Reject no) {
                return no;
            }
        }
        if (mode == Mode.EXPLAIN) {
            explained = policy().rules().explain(facts().with(caller()));
        }
        if (!begun.isOpen()) {
            return Instruction.Pass.AT_ONCE;
        }
        RuleMatch rest = policy().rules().resume(begun, facts().with(caller()));
        return decide(policy(), rest, false);
    }

    private Instruction decide(Policy inForce, RuleMatch found, boolean mayBeGivenBack) {
        Rule end = found.end();
        if (end != null && end.action() == Action.BLOCK) {
            return reject(Rejection.by(end));
        }
        LimitRequest limits = RuleLimits.of(sender, asked, inForce, found.rules());
        return limits == RuleLimits.NONE ? Instruction.Pass.AT_ONCE : ask(limits, found.rules(), mayBeGivenBack);
    }

    /**
     * A limit of a rule, and whose count it is.
     *
     * @param subject {@code null} if that cannot be known without a live request
     */
    public record Counted(Limit limit, @Nullable Subject subject) {}

    /** The limits that a rule asks for in this visit. */
    public List<Counted> counted(Rule rule) {
        return RuleLimits.countedBy(sender, policy(), rule);
    }

    /**
     * The decision in which a limit was asked for the subject; {@code null} if it was not asked: it is on trial, or a rule blocks the
     * request.
     */
    public @Nullable Decision decisionOn(Subject subject, Limit limit) {
        return asked.decisionOn(subject, limit);
    }

    private Instruction ask(LimitRequest limits, List<Rule> rules, boolean mayBeGivenBack) {
        asking = limits;
        askingRules = rules;
        asked.addTrials(limits);
        revocable |= mayBeGivenBack;
        return new Instruction.Ask(limits, mayBeGivenBack);
    }

    /** The next instruction after the limits were asked. */
    public Instruction answered(Decision decision, Duration took) {
        LimitRequest limits = Objects.requireNonNull(asking, "nothing was asked");
        asking = null;
        add(limits, decision, took);
        if (unknownKey && askingRules.isEmpty()) {
            Instruction rejected = reject(
                    decision.outcome().isDecided() && !decision.allowed()
                            ? Rejection.of(decision)
                            : Rejection.unknownApiKey());
            return rejected instanceof Instruction.Reject ? rejected : walk();
        }
        return decision.allowed()
                ? new Instruction.Pass(decision.delay())
                : reject(Rejection.of(decision, responseOf(decision)));
    }

    /** Follows all instructions at once, in a visit that charges nothing. */
    public void peek(Instruction first, Function<LimitRequest, Decision> limits) {
        Instruction next = first;
        while (next instanceof Instruction.Ask ask) {
            next = answered(limits.apply(ask.limits()), Duration.ZERO);
        }
    }

    /** The response of the rule whose limit has the longest wait. */
    private Response responseOf(Decision decision) {
        var tightest = decision.tightest();
        for (Rule rule : askingRules) {
            if (tightest != null && rule.name().equals(tightest.rule())) {
                return rule.response();
            }
        }
        return Response.USUAL;
    }

    /** Only limits that reject a known sender after authentication: a 403 of ours is no reason, like one of authentication. */
    private boolean isGivenBack(Rejection no) {
        return revocable && pastArrival && no.decision() != null && sender.userName() != null;
    }

    private Instruction reject(Rejection no) {
        if (rejection == null && !exempt) {
            rejection = no;
        }
        return mode == Mode.CHARGE ? new Instruction.Reject(no, isGivenBack(no)) : Instruction.Pass.AT_ONCE;
    }

    /** Adds a decision to the record of the request. Limits on trial alone decide nothing. */
    public void add(LimitRequest request, Decision decision, Duration took) {
        asked.add(request, decision, took);
    }

    /** Notes that the charge of limits that were asked was given back, since another limit denies the request. */
    public void givenBack(LimitRequest request) {
        asked.givenBack(request);
    }

    /** A method that the request called was denied. */
    public synchronized void denied(Decision decision) {
        if (rejection == null) {
            rejection = Rejection.of(decision);
        }
    }

    /**
     * The record of the request, once it was answered.
     *
     * @param status that of the response; zero if there is none
     * @param endpoint the pattern of the handler, or {@code null} if there is none
     */
    public synchronized RequestRecord completed(int status, @Nullable String endpoint) {
        Rejection no = rejection;
        List<Asked> all = asked.all();
        LimitDecision tightest = RequestRecord.tightest(all);
        String rule = no != null ? no.rule() : tightest == null ? null : tightest.rule();
        Outcome worst = Outcome.ALLOWED;
        boolean denied = false;
        for (Asked one : all) {
            denied |= !one.decision().allowed();
            Outcome outcome = one.decision().outcome();
            worst = outcome.compareTo(worst) > 0 ? outcome : worst;
        }
        return new RequestRecord(
                no != null ? no.outcome() : exempt ? Outcome.EXEMPT : worst,
                no == null && (exempt || !denied),
                rule,
                policy == null ? null : policy.ruleVersion(rule),
                Duration.ofSeconds(no == null ? 0 : no.retryAfterSeconds()),
                all,
                sender.exchange(status, endpoint),
                at);
    }

    /** Why the request is rejected, or {@code null}. */
    public @Nullable Rejection rejection() {
        return rejection;
    }

    /** Whether no limit applies to the request. */
    public boolean isExempt() {
        return exempt;
    }

    /** Whether the address of the client is exempt, whatever the path: anyone can choose an exempt path. */
    public boolean isExemptByAddress() {
        return gate.exemptions.exempts(arrival.address());
    }

    /** Whether no limit applies to the request if that user sends it. */
    public boolean isExempt(Identity who) {
        return exempt || gate.exemptions.exempt(arrival) || gate.exemptions.exempt(who.authorities()) || isOff();
    }

    /** The subject that the request counts as if that user sends it: the user, else the owner of its API key, else the address. */
    public Subject subject(Identity who) {
        return sender.subject(who);
    }

    /**
     * The subject of a key such as {@code ip}, if that user sends the request.
     *
     * @param on where the key is written, for messages
     */
    public Subject subject(String on, SubjectKey key, Identity who) {
        return sender.subject(on, key, who);
    }

    /** The decisions so far, in their order. */
    public List<Decision> decisions() {
        return asked.decisions();
    }

    /** Every rule and whether it applies, in an explained visit once the user is known. */
    public List<RuleBook.WalkedRule> explained() {
        return explained;
    }

    /** Until when the user is blocked, or {@code null}. */
    public @Nullable Instant blockedUntil() {
        return blockedUntil;
    }

    /** The user that the gate was told, or {@link Identity#NOBODY}. */
    public Identity identity() {
        return sender.identity();
    }

    /** The sender of the request, as far as it is known. */
    public Caller caller() {
        return sender.caller(policySoFar());
    }

    /** The sender of the request if it is that user. */
    public Caller caller(Identity who) {
        return sender.caller(policySoFar(), who);
    }

    /** Whether the request comes with an API key, valid or not. */
    public boolean presentsApiKey() {
        return arrival.apiKey() != null;
    }

    /** The API key of the request; {@code null} if it presents none, or one that is not valid. */
    public @Nullable ApiKey apiKey() {
        return sender.lookUpApiKey();
    }

    /** Whether the request presented an API key that is not valid. */
    public boolean hasUnknownApiKey() {
        return unknownKey;
    }

    /** The policy of this visit; before it has one, the current one. */
    private Policy policySoFar() {
        return policy == null ? gate.policies.current() : policy;
    }

    private Policy policy() {
        return Objects.requireNonNull(policy, "arrive() comes first");
    }

    private RequestFacts facts() {
        return Objects.requireNonNull(facts, "arrive() comes first");
    }
}
