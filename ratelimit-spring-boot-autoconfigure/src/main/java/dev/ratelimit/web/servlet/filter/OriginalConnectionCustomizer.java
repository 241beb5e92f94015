package dev.ratelimit.web.servlet.filter;

import dev.ratelimit.web.ClientAddresses;
import org.eclipse.jetty.http.HttpFields;
import org.eclipse.jetty.server.ConnectionFactory;
import org.eclipse.jetty.server.Connector;
import org.eclipse.jetty.server.HttpConfiguration;
import org.eclipse.jetty.server.Request;
import org.eclipse.jetty.server.Server;

/**
 * Remembers the connection and its headers before Jetty's own reading of {@code X-Forwarded-For}
 * ({@code server.forward-headers-strategy=native}) replaces them.
 */
public final class OriginalConnectionCustomizer implements HttpConfiguration.Customizer {

    /** Goes before the customizers that are there and those that are yet to be added. */
    public static void addTo(Server server) {
        for (Connector connector : server.getConnectors()) {
            for (ConnectionFactory connection : connector.getConnectionFactories()) {
                if (connection instanceof HttpConfiguration.ConnectionFactory http) {
                    http.getHttpConfiguration().getCustomizers().add(0, new OriginalConnectionCustomizer());
                }
            }
        }
    }

    @Override
    public Request customize(Request request, HttpFields.Mutable responseHeaders) {
        HttpFields headers = request.getHeaders();
        request.setAttribute(
                ServletRequests.connectionAttribute(),
                new ClientAddresses.Connection(
                        Request.getRemoteAddr(request),
                        headers.getValuesList(ClientAddresses.X_FORWARDED_FOR),
                        headers.getValuesList(ClientAddresses.FORWARDED),
                        headers.contains(ClientAddresses.X_REAL_IP)));
        return request;
    }
}
