package dev.ratelimit.policy;

import dev.ratelimit.Subject;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/**
 * The {@code key} of a rule: it names the owner of the count.
 *
 * @param argument the text after the kind: the name of a header or a bean, or an expression; empty for other kinds
 */
public record SubjectKey(Kind kind, String argument) {

    /** The ways to tell callers apart. */
    public enum Kind {
        /** The principal, else the owner of the API key, else the client's address. */
        USER(true, false),
        IP(false, false),
        USER_AND_IP(true, false),
        SESSION(true, true),
        /** The API key, else the client's address. */
        API_KEY(false, false),
        HEADER(false, true),
        BEAN(true, true),
        EXPRESSION(true, true);

        private final boolean needsCaller;
        private final boolean needsRequest;

        Kind(boolean needsCaller, boolean needsRequest) {
            this.needsCaller = needsCaller;
            this.needsRequest = needsRequest;
        }

        /** Whether only a live request can tell, and not a description of one. */
        public boolean needsRequest() {
            return needsRequest;
        }

        /** The type of the subjects that it counts, as in {@code user:alice}; {@code null} if they are not of one type. */
        public @Nullable String subjectType() {
            return switch (this) {
                case USER -> Subject.USER;
                case IP -> Subject.IP;
                case API_KEY -> Subject.API_KEY;
                case USER_AND_IP, SESSION, HEADER, BEAN, EXPRESSION -> null;
            };
        }

        /** Whether it is only known after authentication. */
        public boolean needsCaller() {
            return needsCaller;
        }
    }

    /** A request cannot have a header of another name (RFC 9110). */
    private static final Pattern HEADER_NAME = Pattern.compile("[A-Za-z0-9!#$%&'*+.^_`|~-]+");

    /** The advice for a key that is none. */
    public static final String ADVICE = "write user, ip, user+ip, session, api-key, header:NAME, bean:NAME,"
            + " or an expression that begins with # or @, such as #request.getParameter('tenant')";

    private static final String IN_QUOTES = "; write an expression in quotes, since # begins a comment in YAML";

    /** Reads a key; {@link InvalidRuleException} if it is none. */
    public static SubjectKey parse(String rule, String written) {
        SubjectKey key = find(written);
        if (key == null) {
            throw new InvalidRuleException(rule, "key", written, written.isBlank() ? ADVICE + IN_QUOTES : ADVICE);
        }
        return key;
    }

    /** Reads a key; {@code null} if it is none. */
    public static @Nullable SubjectKey find(String written) {
        String key = written.strip();
        if (key.startsWith("#") || key.startsWith("@")) {
            return new SubjectKey(Kind.EXPRESSION, key);
        }
        int colon = key.indexOf(':');
        String kind = colon < 0 ? key : key.substring(0, colon);
        String argument = colon < 0 ? "" : key.substring(colon + 1).strip();
        return switch (kind) {
            case "header" -> HEADER_NAME.matcher(argument).matches() ? new SubjectKey(Kind.HEADER, argument) : null;
            case "bean" -> argument.isEmpty() ? null : new SubjectKey(Kind.BEAN, argument);
            case "user" -> plain(colon, Kind.USER);
            case "ip" -> plain(colon, Kind.IP);
            case "user+ip" -> plain(colon, Kind.USER_AND_IP);
            case "session" -> plain(colon, Kind.SESSION);
            case "api-key" -> plain(colon, Kind.API_KEY);
            default -> null;
        };
    }

    private static @Nullable SubjectKey plain(int colon, Kind kind) {
        return colon < 0 ? new SubjectKey(kind, "") : null;
    }
}
