package dev.ratelimit.gate;

import dev.ratelimit.IpAddress;
import dev.ratelimit.RequestRecord.Exchange;
import dev.ratelimit.Subject;
import dev.ratelimit.caller.ApiKey;
import dev.ratelimit.caller.Caller;
import dev.ratelimit.policy.Policy;
import dev.ratelimit.policy.Rule;
import dev.ratelimit.policy.SubjectKey;
import java.util.Objects;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/** The sender of a request as far as it is known during a visit, and the subjects that it counts as. */
final class Sender {

    private final Gate gate;
    private Arrival arrival;
    private Identity identity = Identity.NOBODY;
    private @Nullable ApiKey apiKey;
    private boolean apiKeyLookedUp;
    private @Nullable Caller caller;
    private @Nullable Subject addressSubject;

    Sender(Gate gate, Arrival arrival) {
        this.gate = gate;
        this.arrival = arrival;
    }

    void arrived(Arrival replaced) {
        arrival = replaced;
    }

    void identified(Identity who) {
        identity = who;
    }

    Identity identity() {
        return identity;
    }

    /** Looks up the API key that the request presents, once; {@code null} if there is none, or it is not valid. */
    @Nullable
    ApiKey lookUpApiKey() {
        Supplier<@Nullable ApiKey> presented = arrival.apiKey();
        if (presented != null && !apiKeyLookedUp) {
            apiKeyLookedUp = true;
            apiKey = presented.get();
        }
        return apiKey;
    }

    /** The valid API key, once it was looked up. */
    @Nullable
    ApiKey apiKey() {
        return apiKey;
    }

    @Nullable
    IpAddress address() {
        return arrival.address();
    }

    @Nullable
    LiveRequest live() {
        return arrival.live();
    }

    boolean checksApiKeys() {
        return gate.guesses != null;
    }

    /** The name of the user, else of the owner of the API key. */
    @Nullable
    String userName() {
        return userName(identity);
    }

    private @Nullable String userName(Identity who) {
        return who.user() != null ? who.user() : apiKey != null ? apiKey.owner() : null;
    }

    /** The caller by the tiers of that policy; the first call decides. */
    Caller caller(Policy inForce) {
        if (caller == null) {
            caller = caller(inForce, identity);
        }
        return caller;
    }

    /** The caller if it is that user. The API key of an exempt request was not needed until now. */
    Caller caller(Policy inForce, Identity who) {
        lookUpApiKey();
        return inForce.tiers().caller(who.user(), who.authorities(), apiKey, gate.accounts);
    }

    /** The caller, once the rules that need it are walked. */
    Caller knownCaller() {
        return Objects.requireNonNull(caller, "a rule with a quota needs the caller");
    }

    /** The caller, or {@code null} before authentication. */
    @Nullable
    Caller callerSoFar() {
        return caller;
    }

    @Nullable
    Subject userSubject() {
        return userSubject(identity);
    }

    private @Nullable Subject userSubject(Identity who) {
        String name = userName(who);
        return name == null || name.isBlank() ? null : Subject.user(name);
    }

    /** The subject of the address; {@code null} only if it is not known and there is no live request. */
    @Nullable
    Subject addressSubject() {
        if (addressSubject == null && (arrival.live() != null || arrival.address() != null)) {
            addressSubject = gate.subjects.ofAddress(arrival.address());
        }
        return addressSubject;
    }

    /** The subject if it is that user: the user, else the owner of the API key, else the address. */
    Subject subject(Identity who) {
        lookUpApiKey();
        Subject user = userSubject(who);
        return user != null ? user : gate.subjects.ofAddress(arrival.address());
    }

    /** The subject of a key if it is that user. */
    Subject subject(String on, SubjectKey key, Identity who) {
        lookUpApiKey();
        Subject found = gate.subjects.of(on, key, this, userSubject(who));
        return found != null ? found : subject(who);
    }

    /** The subject for the rule; {@code null} only if a live request would be needed to know it. */
    @Nullable
    Subject subjectOf(Rule rule) {
        return gate.subjects.of(rule, this);
    }

    /** The request and its response, for the record. */
    Exchange exchange(int status, @Nullable String endpoint) {
        return new Exchange(
                arrival.method(),
                arrival.path().withoutParameters(),
                endpoint,
                status,
                arrival.address() == null ? null : arrival.address().toString(),
                userName(),
                apiKey == null ? null : apiKey.id(),
                caller == null ? null : caller.tier());
    }
}
