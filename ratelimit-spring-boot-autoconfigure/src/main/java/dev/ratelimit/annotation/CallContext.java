package dev.ratelimit.annotation;

import dev.ratelimit.Decision;
import dev.ratelimit.Subject;
import java.util.function.IntConsumer;
import org.jspecify.annotations.Nullable;

/** What a call is part of: a web request, or nothing that is known here. */
public interface CallContext {

    /** A call outside of the web. */
    CallContext NONE = new CallContext() {};

    /** Finds the context of the current call. */
    @FunctionalInterface
    interface Source {
        CallContext current();
    }

    /** Who makes the call, or {@code null} if that is not known. */
    default @Nullable Subject caller() {
        return null;
    }

    /** The tier of whoever makes the call, or {@code null} if that is not known. */
    default @Nullable String tier() {
        return null;
    }

    /** Whether no limit applies to whoever makes the call. */
    default boolean isExempt() {
        return false;
    }

    /** Is told what was decided, so that it can be shown to the caller. */
    default void decided(Decision decision) {}

    /**
     * Runs the work with the status of the response when it is known.
     *
     * @return {@code false} if there will be no response
     */
    default boolean afterResponse(IntConsumer work) {
        return false;
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
