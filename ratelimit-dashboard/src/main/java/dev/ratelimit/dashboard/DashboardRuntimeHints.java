package dev.ratelimit.dashboard;

import dev.ratelimit.audit.report.Reports;
import dev.ratelimit.operate.AuditView;
import dev.ratelimit.operate.BlockView;
import dev.ratelimit.operate.ChangeView;
import dev.ratelimit.operate.ExplanationView;
import dev.ratelimit.operate.InstanceStatus;
import dev.ratelimit.operate.LimitView;
import dev.ratelimit.operate.PenaltyView;
import dev.ratelimit.operate.PeriodView;
import dev.ratelimit.operate.RuleView;
import dev.ratelimit.operate.SubjectView;
import dev.ratelimit.operate.VersionView;
import dev.ratelimit.operate.VersionView.Difference;
import org.jspecify.annotations.Nullable;
import org.springframework.aot.hint.BindingReflectionHintsRegistrar;
import org.springframework.aot.hint.RuntimeHints;
import org.springframework.aot.hint.RuntimeHintsRegistrar;

/** Takes the files of the page, and the values that become JSON, into a native image. */
final class DashboardRuntimeHints implements RuntimeHintsRegistrar {

    @Override
    public void registerHints(RuntimeHints hints, @Nullable ClassLoader classLoader) {
        hints.resources().registerPattern("dev/ratelimit/dashboard/page/*");
        new BindingReflectionHintsRegistrar()
                .registerReflectionHints(
                        hints.reflection(),
                        DashboardProperties.class,
                        Health.class,
                        AuditView.class,
                        BlockView.class,
                        ChangeView.class,
                        Difference.class,
                        ExplanationView.class,
                        InstanceStatus.class,
                        LimitView.class,
                        PenaltyView.class,
                        PeriodView.class,
                        Reports.SubjectTotals.class,
                        RuleView.class,
                        SubjectView.class,
                        VersionView.class);
    }
}
