package guide;

// region session
import dev.ratelimit.annotation.RateLimited;
import org.springframework.http.HttpStatus;
import org.springframework.http.ResponseEntity;
import org.springframework.web.bind.annotation.PostMapping;
import org.springframework.web.bind.annotation.RequestBody;
import org.springframework.web.bind.annotation.RestController;

@RestController
class Session {

    record LoginForm(String username, String password) {}

    @PostMapping("/login")
    @RateLimited(
            limit = "login",
            key = "#client + ' ' + #form.username.strip().toLowerCase()",
            countWhen = "#status == 401")
    ResponseEntity<String> login(@RequestBody LoginForm form) {
        return "wonderland".equals(form.password())
                ? ResponseEntity.ok("Hello!")
                : ResponseEntity.status(HttpStatus.UNAUTHORIZED).build();
    }
}
// endregion
