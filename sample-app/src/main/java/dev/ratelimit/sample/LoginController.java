package dev.ratelimit.sample;

import dev.ratelimit.annotation.RateLimitExempt;
import org.jspecify.annotations.Nullable;
import org.springframework.http.HttpStatus;
import org.springframework.security.authentication.AuthenticationManager;
import org.springframework.security.authentication.UsernamePasswordAuthenticationToken;
import org.springframework.security.core.AuthenticationException;
import org.springframework.web.bind.annotation.PostMapping;
import org.springframework.web.bind.annotation.RequestBody;
import org.springframework.web.bind.annotation.RestController;
import org.springframework.web.server.ResponseStatusException;

/** Says whether a name and a password belong together. The limit of failed logins is that of Spring Security. */
@RestController
class LoginController {

    private final AuthenticationManager authentication;

    LoginController(AuthenticationManager authentication) {
        this.authentication = authentication;
    }

    record Credentials(String username, @Nullable String password) {
        Credentials {
            if (username == null || username.isBlank()) {
                throw new IllegalArgumentException("username is missing");
            }
        }

        /** Keeps the password out of logs. */
        @Override
        public String toString() {
            return "Credentials[" + username + "]";
        }
    }

    record Welcome(String user) {}

    /** No rule limits it: the {@link AuthenticationManager} does. */
    @PostMapping("/login")
    @RateLimitExempt
    Welcome login(@RequestBody Credentials credentials) {
        try {
            return new Welcome(authentication
                    .authenticate(UsernamePasswordAuthenticationToken.unauthenticated(
                            credentials.username(), credentials.password()))
                    .getName());
        } catch (AuthenticationException e) {
            throw new ResponseStatusException(HttpStatus.UNAUTHORIZED, "Name and password do not belong together", e);
        }
    }
}
