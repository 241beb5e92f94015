package dev.ratelimit.web.servlet.filter;

import jakarta.servlet.ServletException;
import java.io.IOException;
import org.apache.catalina.connector.Request;
import org.apache.catalina.connector.Response;
import org.apache.catalina.valves.ValveBase;

/**
 * Remembers the connection and its headers before Tomcat's own reading of {@code X-Forwarded-For}
 * ({@code server.forward-headers-strategy=native}) replaces them.
 */
public final class OriginalConnectionValve extends ValveBase {

    public OriginalConnectionValve() {
        super(true);
    }

    @Override
    public void invoke(Request request, Response response) throws IOException, ServletException {
        ServletRequests.keepConnection(request, ServletRequests.connectionOf(request.getRemoteAddr(), request));
        getNext().invoke(request, response);
    }
}
