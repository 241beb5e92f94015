package dev.ratelimit.startup;

import java.util.ArrayList;
import java.util.List;
import org.springframework.beans.factory.ObjectProvider;
import org.springframework.boot.actuate.autoconfigure.web.server.ManagementPortType;
import org.springframework.boot.actuate.endpoint.ExposableEndpoint;
import org.springframework.boot.actuate.endpoint.web.PathMappedEndpoint;
import org.springframework.boot.actuate.endpoint.web.PathMappedEndpoints;
import org.springframework.boot.actuate.endpoint.web.WebServerNamespace;
import org.springframework.core.env.Environment;

/**
 * The paths of actuator endpoints on the port of the application. On a management port of their own, limits do not apply anyway,
 * and the same paths on the port of the application belong to the application.
 */
public record ActuatorPaths(ObjectProvider<PathMappedEndpoints> endpoints, Environment environment) {

    /** The patterns of the endpoints, after the given ones. Only of real endpoints: the base path may be that of the application. */
    public List<String> and(List<String> paths) {
        List<String> all = new ArrayList<>(paths);
        PathMappedEndpoints mapped = endpoints.getIfAvailable();
        if (mapped == null) {
            return all;
        }
        String servlet = servletPath();
        if (ManagementPortType.get(environment) == ManagementPortType.SAME) {
            mapped.getAllPaths().forEach(path -> add(all, servlet + path));
            if (mapped.getBasePath().length() > 1) {
                all.add(servlet + mapped.getBasePath());
            }
        }
        for (PathMappedEndpoint endpoint : mapped) {
            if (endpoint instanceof ExposableEndpoint<?> exposed) {
                mapped.getAdditionalPaths(WebServerNamespace.SERVER, exposed.getEndpointId())
                        .forEach(path -> add(all, servlet + path));
            }
        }
        return all;
    }

    private static void add(List<String> all, String path) {
        all.add(path);
        all.add(path + "/**");
    }

    private String servletPath() {
        String path = environment.getProperty("spring.mvc.servlet.path", "/");
        return path.endsWith("/") ? path.substring(0, path.length() - 1) : path;
    }
}
