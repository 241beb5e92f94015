package guide;

/** For applications in which nobody logs in, though Spring Security is on the class path of these tests. */
final class WithoutLogins {

    private static final String PREFIX = "org.springframework.boot.security.autoconfigure.";

    /** For {@code spring.autoconfigure.exclude}. */
    static final String EXCLUDED = PREFIX + "SecurityAutoConfiguration,"
            + PREFIX + "UserDetailsServiceAutoConfiguration,"
            + PREFIX + "web.servlet.SecurityFilterAutoConfiguration,"
            + PREFIX + "web.servlet.ServletWebSecurityAutoConfiguration";

    private WithoutLogins() {}
}
