package dev.ratelimit.sample;

import dev.ratelimit.annotation.RateLimited;
import jakarta.servlet.http.HttpServletRequest;
import org.jspecify.annotations.Nullable;
import org.springframework.http.HttpStatus;
import org.springframework.security.authentication.AuthenticationManager;
import org.springframework.security.authentication.UsernamePasswordAuthenticationToken;
import org.springframework.security.core.AuthenticationException;
import org.springframework.web.bind.annotation.PostMapping;
import org.springframework.web.bind.annotation.RequestBody;
import org.springframework.web.bind.annotation.RestController;
import org.springframework.web.server.ResponseStatusException;

/** Says whether a name and a password belong together. */
@RestController
class LoginController {

    private final AuthenticationManager authentication;
    private final LoginAttempts attempts;

    LoginController(AuthenticationManager authentication, LoginAttempts attempts) {
        this.authentication = authentication;
        this.attempts = attempts;
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

    @PostMapping("/login")
    @RateLimited(
            limit = "login",
            key = "@loginAttempts.key(#request, #credentials.username)",
            countWhen = "#status == 401")
    Welcome login(@RequestBody Credentials credentials, HttpServletRequest request) {
        String user = authenticated(credentials);
        attempts.succeeded(request, credentials.username());
        return new Welcome(user);
    }

    private String authenticated(Credentials credentials) {
        try {
            return authentication
                    .authenticate(UsernamePasswordAuthenticationToken.unauthenticated(
                            credentials.username(), credentials.password()))
                    .getName();
        } catch (AuthenticationException e) {
            throw new ResponseStatusException(HttpStatus.UNAUTHORIZED, "Name and password do not belong together", e);
        }
    }
}
