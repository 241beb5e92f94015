package dev.ratelimit.dashboard;

import org.springframework.boot.diagnostics.AbstractFailureAnalyzer;
import org.springframework.boot.diagnostics.FailureAnalysis;

/** Says how to protect the dashboard. */
final class UnprotectedDashboardFailureAnalyzer extends AbstractFailureAnalyzer<UnprotectedDashboardException> {

    @Override
    protected FailureAnalysis analyze(Throwable rootFailure, UnprotectedDashboardException cause) {
        return new FailureAnalysis(
                cause.getMessage() + ".",
                "Add spring-boot-starter-security, let a SecurityFilterChain authenticate requests to " + cause.path()
                        + "/**, and grant RATELIMIT_VIEW or RATELIMIT_STEER to operators. Or remove ratelimit-dashboard."
                        + " Only where nobody else can reach the application, set ratelimit.dashboard.unprotected: true.",
                cause);
    }
}
