package dev.ratelimit.web.servlet.filter;

import jakarta.servlet.AsyncEvent;
import jakarta.servlet.AsyncListener;
import jakarta.servlet.http.HttpServletRequest;
import jakarta.servlet.http.HttpServletResponse;
import java.util.ArrayList;
import java.util.List;
import java.util.function.IntConsumer;
import org.jspecify.annotations.Nullable;

/**
 * Work that waits for the status of the response. The filter runs it when the request is done, asynchronous ones too. Safe for
 * use by many threads, also after the request object was recycled.
 */
final class AfterResponse {

    private static final String WAITING = AfterResponse.class.getName();

    private List<IntConsumer> work = new ArrayList<>(2);

    /** The status, once it is known. */
    private @Nullable Integer known;

    private AfterResponse() {}

    /**
     * The work of this request. The filter is the first to ask, before any other thread can know the request: so there is one.
     */
    static AfterResponse of(HttpServletRequest request) {
        AfterResponse waiting = (AfterResponse) request.getAttribute(WAITING);
        if (waiting == null) {
            waiting = new AfterResponse();
            request.setAttribute(WAITING, waiting);
        }
        return waiting;
    }

    /** Runs the work with the status of the response, once the request is done; now, if it is. */
    void add(IntConsumer later) {
        Integer status;
        synchronized (this) {
            status = known;
            if (status == null) {
                work.add(later);
            }
        }
        if (status != null) {
            later.accept(status);
        }
    }

    /** The chain has returned; {@code failed} if it threw, so that the status is not written yet. */
    void chainReturned(HttpServletRequest request, HttpServletResponse response, boolean failed) {
        if (request.isAsyncStarted()) {
            // Whether or not anything waits yet: the asynchronous part may add work later.
            request.getAsyncContext().addListener(new OnCompletion(response));
        } else {
            run(failed ? HttpServletResponse.SC_INTERNAL_SERVER_ERROR : response.getStatus());
        }
    }

    private void run(int status) {
        List<IntConsumer> now;
        synchronized (this) {
            known = status;
            now = work;
            work = List.of(); // from now on work runs at once
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
