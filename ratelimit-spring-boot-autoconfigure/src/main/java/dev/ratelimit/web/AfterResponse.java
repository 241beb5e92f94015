package dev.ratelimit.web;

import jakarta.servlet.AsyncEvent;
import jakarta.servlet.AsyncListener;
import jakarta.servlet.http.HttpServletRequest;
import jakarta.servlet.http.HttpServletResponse;
import java.util.ArrayList;
import java.util.List;
import java.util.function.IntConsumer;
import org.jspecify.annotations.Nullable;

/** What waits for the status of the response. The filter runs it when the request is done, asynchronous ones too. */
public final class AfterResponse {

    private static final String WAITING = AfterResponse.class.getName();

    private final List<IntConsumer> work = new ArrayList<>();

    private AfterResponse() {}

    /** Runs the work with the status of the response, once the request is done. */
    public static void add(HttpServletRequest request, IntConsumer work) {
        AfterResponse waiting = of(request);
        if (waiting == null) {
            waiting = new AfterResponse();
            request.setAttribute(WAITING, waiting);
        }
        synchronized (waiting) {
            waiting.work.add(work);
        }
    }

    private static @Nullable AfterResponse of(HttpServletRequest request) {
        return (AfterResponse) request.getAttribute(WAITING);
    }

    /** The chain has returned; {@code failed} if it threw, so that the status is not written yet. */
    static void chainReturned(HttpServletRequest request, HttpServletResponse response, boolean failed) {
        AfterResponse waiting = of(request);
        if (waiting == null) {
            return;
        }
        if (request.isAsyncStarted()) {
            request.getAsyncContext().addListener(waiting.new OnCompletion(response));
        } else {
            waiting.run(failed ? HttpServletResponse.SC_INTERNAL_SERVER_ERROR : response.getStatus());
        }
    }

    private void run(int status) {
        List<IntConsumer> now;
        synchronized (this) {
            now = List.copyOf(work);
            work.clear();
        }
        now.forEach(one -> one.accept(status));
    }

    private final class OnCompletion implements AsyncListener {

        private final HttpServletResponse response;

        private OnCompletion(HttpServletResponse response) {
            this.response = response;
        }

        @Override
        public void onComplete(AsyncEvent event) {
            run(response.getStatus());
        }

        @Override
        public void onTimeout(AsyncEvent event) {}

        @Override
        public void onError(AsyncEvent event) {}

        /** Starting again drops the listeners. */
        @Override
        public void onStartAsync(AsyncEvent event) {
            event.getAsyncContext().addListener(this);
        }
    }
}
