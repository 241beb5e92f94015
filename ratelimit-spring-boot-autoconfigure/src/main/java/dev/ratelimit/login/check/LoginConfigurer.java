package dev.ratelimit.login.check;

import dev.ratelimit.login.LoginLimits;
import dev.ratelimit.web.servlet.filter.ServletGate;
import java.util.function.Supplier;
import org.springframework.security.authentication.AuthenticationManager;
import org.springframework.security.config.Customizer;
import org.springframework.security.config.annotation.web.builders.HttpSecurity;
import org.springframework.security.config.annotation.web.configurers.AbstractHttpConfigurer;
import org.springframework.security.web.session.DisableEncodeUrlFilter;

/**
 * Limits the logins of a chain of Spring Security, whichever manager it was given. It is configured before form, Basic and
 * others take the manager over.
 */
public final class LoginConfigurer extends AbstractHttpConfigurer<LoginConfigurer, HttpSecurity> {

    private final Supplier<LoginLimits> logins;
    private final Supplier<ServletGate> gate;

    private LoginConfigurer(Supplier<LoginLimits> logins, Supplier<ServletGate> gate) {
        this.logins = logins;
        this.gate = gate;
    }

    /** Applies it to every chain. The suppliers are asked with the first login. */
    public static Customizer<HttpSecurity> everywhere(Supplier<LoginLimits> logins, Supplier<ServletGate> gate) {
        return http -> http.with(new LoginConfigurer(logins, gate), Customizer.withDefaults());
    }

    @Override
    public void configure(HttpSecurity http) {
        AuthenticationManager passwords = http.getSharedObject(AuthenticationManager.class);
        if (passwords != null) {
            http.setSharedObject(
                    AuthenticationManager.class, login -> GateLoginLimits.authenticate(logins.get(), passwords, login));
        }
        http.addFilterBefore(new LoginFilter(gate), DisableEncodeUrlFilter.class);
    }
}
