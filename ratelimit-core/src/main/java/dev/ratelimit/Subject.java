package dev.ratelimit;

import dev.ratelimit.support.Sha256;
import java.nio.charset.StandardCharsets;
import java.text.Normalizer;
import java.util.HexFormat;
import java.util.regex.Pattern;

/**
 * The owner of a count: {@code user:alice}, {@code ip:203.0.113.7}, or several together as in
 * {@code user:alice+ip:203.0.113.7}.
 *
 * <p>Tables hold its text. The text is readable, and two different tuples never give the same text:
 *
 * <ul>
 *   <li>A value is trimmed and brought to Unicode's form NFC.
 *   <li>The characters {@code %}, {@code +} and {@code ~}, control and format characters and lone surrogates are written as
 *       {@code %} and their code.
 *   <li>A text of more than 200 characters ends in {@code ~} and a digest of the whole.
 * </ul>
 */
public final class Subject implements Comparable<Subject> {

    /** The longest text of a subject. */
    public static final int MOST_CHARACTERS = 200;

    /** The type of subjects that are users. */
    public static final String USER = "user";

    /** The type of subjects that are addresses of clients. */
    public static final String IP = "ip";

    /** The type of subjects that are API keys. */
    public static final String API_KEY = "api-key";

    private static final int MOST_CHARACTERS_OF_TYPE = 32;

    private static final Pattern TEXT = Pattern.compile("[a-z][a-z0-9-]{0,31}:[^\\p{Cntrl}\\p{Cs}]+");

    private static final int DIGEST_CHARACTERS = 43;

    private static final HexFormat HEX = HexFormat.of().withUpperCase();

    /** The text before it is cut to length. Another part is appended to this one. */
    private final String whole;

    private final String text;

    private Subject(String whole) {
        this.whole = whole;
        this.text = whole.length() <= MOST_CHARACTERS ? whole : shortened(whole);
    }

    /**
     * @param type the kind of subject: lower-case letters, digits and {@code -}
     * @param value the name; blanks around it do not count
     */
    public static Subject of(String type, String value) {
        return new Subject(part(type, value));
    }

    public static Subject user(String name) {
        return of(USER, name);
    }

    public static Subject ip(String address) {
        return of(IP, address);
    }

    /** The subject that tables and logs hold under this text. */
    public static Subject ofText(String text) {
        if (!TEXT.matcher(text).matches() || text.length() > MOST_CHARACTERS) {
            throw new IllegalArgumentException("subject is '" + text + "'; write it as in user:alice");
        }
        return new Subject(text);
    }

    /** This subject and another part together: a count of its own for each combination. */
    public Subject and(String type, String value) {
        return new Subject(whole + '+' + part(type, value));
    }

    /** Whether it is of that type; if it has several parts, whether the first one is. */
    public boolean isOf(String type) {
        return text.length() > type.length() && text.startsWith(type) && text.charAt(type.length()) == ':';
    }

    /** The text that stands for the subject in tables and logs. */
    public String text() {
        return text;
    }

    private static String part(String type, String value) {
        if (!isType(type)) {
            throw new IllegalArgumentException("subject type is '" + type
                    + "'; write 1 to 32 lower-case letters, digits or '-', a letter first, such as user");
        }
        String trimmed = value.strip();
        if (trimmed.isEmpty()) {
            throw new IllegalArgumentException(
                    "subject '" + type + "' is empty; give it a value that tells one from another");
        }
        return type + ':' + escaped(trimmed);
    }

    private static boolean isType(String type) {
        int length = type.length();
        if (length == 0 || length > MOST_CHARACTERS_OF_TYPE || type.charAt(0) < 'a' || type.charAt(0) > 'z') {
            return false;
        }
        for (int i = 1; i < length; i++) {
            char c = type.charAt(i);
            if ((c < 'a' || c > 'z') && (c < '0' || c > '9') && c != '-') {
                return false;
            }
        }
        return true;
    }

    private static String escaped(String value) {
        int plain = 0;
        while (plain < value.length() && isPlain(value.charAt(plain))) {
            plain++;
        }
        if (plain == value.length()) {
            return value;
        }
        String normal = Normalizer.normalize(value, Normalizer.Form.NFC);
        StringBuilder escaped = new StringBuilder(normal.length() + 16);
        normal.codePoints().forEach(point -> append(escaped, point));
        return escaped.toString();
    }

    private static boolean isPlain(char c) {
        return c >= ' ' && c < '~' && c != '%' && c != '+';
    }

    private static void append(StringBuilder escaped, int point) {
        int type = Character.getType(point);
        if (type == Character.SURROGATE) {
            escaped.append("%u").append(HEX.toHexDigits((char) point));
        } else if (point == '%'
                || point == '+'
                || point == '~'
                || type == Character.CONTROL
                || type == Character.FORMAT
                || type == Character.LINE_SEPARATOR
                || type == Character.PARAGRAPH_SEPARATOR) {
            for (byte b : Character.toString(point).getBytes(StandardCharsets.UTF_8)) {
                escaped.append('%').append(HEX.toHexDigits(b));
            }
        } else {
            escaped.appendCodePoint(point);
        }
    }

    private static String shortened(String whole) {
        int end = MOST_CHARACTERS - 1 - DIGEST_CHARACTERS;
        if (Character.isHighSurrogate(whole.charAt(end - 1))) {
            end--;
        }
        return whole.substring(0, end) + '~' + Sha256.base64(whole);
    }

    @Override
    public int compareTo(Subject other) {
        return text.compareTo(other.text);
    }

    @Override
    public boolean equals(Object other) {
        return other instanceof Subject subject && text.equals(subject.text);
    }

    @Override
    public int hashCode() {
        return text.hashCode();
    }

    @Override
    public String toString() {
        return text;
    }
}
