package dev.ratelimit.actuate;

import dev.ratelimit.actuate.RateLimitEndpointWebExtension.Refusal;
import dev.ratelimit.support.Spelling;
import java.util.ArrayList;
import java.util.List;
import org.springframework.boot.actuate.endpoint.EndpointId;
import org.springframework.boot.actuate.endpoint.OperationType;
import org.springframework.boot.actuate.endpoint.SecurityContext;
import org.springframework.boot.actuate.endpoint.invoke.OperationInvoker;
import org.springframework.boot.actuate.endpoint.invoke.OperationInvokerAdvisor;
import org.springframework.boot.actuate.endpoint.invoke.OperationParameter;
import org.springframework.boot.actuate.endpoint.invoke.OperationParameters;
import org.springframework.boot.actuate.endpoint.web.WebEndpointResponse;

/**
 * Refuses requests to the endpoint {@code ratelimit} that have a field or a parameter that the operation does not know. The actuator
 * would ignore it: a change with a misspelled {@code duration} would have no end.
 */
public final class UnknownArguments implements OperationInvokerAdvisor {

    private static final EndpointId OURS = EndpointId.of("ratelimit");

    @Override
    public OperationInvoker apply(
            EndpointId endpoint, OperationType type, OperationParameters parameters, OperationInvoker invoker) {
        if (!endpoint.equals(OURS)) {
            return invoker;
        }
        List<String> known = known(parameters);
        return context -> {
            for (String name : context.getArguments().keySet()) {
                if (!known.contains(name)) {
                    return refusal(name, known);
                }
            }
            return invoker.invoke(context);
        };
    }

    private static List<String> known(OperationParameters parameters) {
        List<String> known = new ArrayList<>();
        for (OperationParameter parameter : parameters) {
            if (!SecurityContext.class.isAssignableFrom(parameter.getType())) {
                known.add(parameter.getName());
            }
        }
        return known;
    }

    /** Only the web has arguments that the operation does not declare. */
    private static WebEndpointResponse<Refusal> refusal(String name, List<String> known) {
        String nearest = Spelling.nearest(name, known);
        String remedy =
                nearest == null ? "the known ones are " + String.join(", ", known) : "did you mean '" + nearest + "'?";
        return new WebEndpointResponse<>(
                new Refusal(WebEndpointResponse.STATUS_BAD_REQUEST, "'" + name + "' is unknown here; " + remedy),
                WebEndpointResponse.STATUS_BAD_REQUEST);
    }
}
