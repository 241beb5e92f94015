package dev.ratelimit.dashboard;

import dev.ratelimit.setting.InvalidPropertyException;
import java.util.regex.Pattern;
import org.springframework.boot.context.properties.bind.Bindable;
import org.springframework.boot.context.properties.bind.Binder;
import org.springframework.boot.context.properties.bind.DefaultValue;
import org.springframework.core.env.Environment;

/**
 * The configuration under {@code ratelimit.dashboard}. {@code RateLimitProperties} describes the same properties, since it knows
 * all names under {@code ratelimit}.
 */
record DashboardProperties(
        @DefaultValue("/ratelimit") String path,
        @DefaultValue("RATELIMIT_VIEW") String viewAuthority,
        @DefaultValue("RATELIMIT_STEER") String steerAuthority,
        @DefaultValue("false") boolean unprotected) {

    static final String PREFIX = "ratelimit.dashboard";

    private static final Pattern PATH = Pattern.compile("(/[A-Za-z0-9._~-]+)+");

    DashboardProperties {
        if (!PATH.matcher(path).matches()) {
            throw new InvalidPropertyException(
                    PREFIX + ".path",
                    path,
                    "begin it with a slash and end it without one, as in /ratelimit; letters, digits and . _ ~ - only");
        }
        if (viewAuthority.isBlank()) {
            throw new InvalidPropertyException(
                    PREFIX + ".view-authority", viewAuthority, "name an authority such as RATELIMIT_VIEW");
        }
        if (steerAuthority.isBlank()) {
            throw new InvalidPropertyException(
                    PREFIX + ".steer-authority", steerAuthority, "name an authority such as RATELIMIT_STEER");
        }
    }

    static DashboardProperties of(Environment environment) {
        return Binder.get(environment).bindOrCreate(PREFIX, Bindable.of(DashboardProperties.class));
    }
}
