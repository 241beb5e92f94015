package dev.ratelimit.web;

import dev.ratelimit.Decision;
import dev.ratelimit.LimitRequest;
import dev.ratelimit.Subject;
import dev.ratelimit.policy.SubjectKey;
import java.security.Principal;
import java.time.Duration;
import java.util.function.IntConsumer;
import org.jspecify.annotations.Nullable;

/** The surroundings of a call: a web request, or nothing that is known here. */
public interface CallContext {

    /** A call outside of the web. */
    CallContext NONE = new CallContext() {};

    /** Finds the context of the current call. */
    @FunctionalInterface
    interface Source {
        CallContext current();
    }

    /** The subject that makes the call, or {@code null} if that is not known. */
    default @Nullable Subject caller() {
        return null;
    }

    /**
     * The subject of a key as rules have it, or {@code null} if that is not known.
     *
     * @param on where the key is written, for messages
     */
    default @Nullable Subject subject(String on, SubjectKey key) {
        return null;
    }

    /** The tier of the caller, or {@code null} if that is not known. */
    default @Nullable String tier() {
        return null;
    }

    /** Whether no limit applies to the caller. */
    default boolean isExempt() {
        return false;
    }

    /** Whether decisions are part of the record of a request, so that the limiter need not record them. */
    default boolean isRecorded() {
        return false;
    }

    /** Called with every decision of the call, so that it can be recorded and shown to the caller. */
    default void decided(LimitRequest limits, Decision decision, Duration took) {}

    /** Called when the charge of a decision was given back, since another limit denied the call. */
    default void givenBack(LimitRequest limits) {}

    /**
     * Runs the work with the status of the response when it is known.
     *
     * @return {@code false} if nobody will know it: there is no response, or the request passes no filter of ours
     */
    default boolean afterResponse(IntConsumer work) {
        return false;
    }

    /** The user of the web request for expressions, or {@code null}. */
    default @Nullable Principal principal() {
        return null;
    }

    /** The address of the client for expressions, or {@code null}. */
    default @Nullable String client() {
        return null;
    }

    /** The web request for expressions, or {@code null}. */
    default @Nullable Object request() {
        return null;
    }
}
