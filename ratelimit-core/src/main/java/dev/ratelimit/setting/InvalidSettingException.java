package dev.ratelimit.setting;

import java.time.Duration;
import org.jspecify.annotations.Nullable;

/** An invalid setting. Names its place and value, and says what to write instead. */
public class InvalidSettingException extends IllegalArgumentException {

    private static final long serialVersionUID = 1L;

    private final String property;
    private final String value;
    private final String advice;

    /**
     * @param property the property as written in configuration, such as {@code max-waiting}
     * @param value the refused value, or {@code null} if there is none
     * @param advice the remedy, as an imperative clause such as "write a whole number of at least 1"
     */
    public InvalidSettingException(String property, @Nullable Object value, String advice) {
        this(null, property, value, advice);
    }

    /**
     * @param of the owner of the property, such as {@code limit 'login'}, or {@code null} where it is not known
     */
    protected InvalidSettingException(@Nullable String of, String property, @Nullable Object value, String advice) {
        super(message(of, property, shown(value), advice));
        this.property = property;
        this.value = shown(value);
        this.advice = advice;
    }

    /** The same mistake, said by someone who knows more of where it stands. */
    protected InvalidSettingException(@Nullable String of, String property, InvalidSettingException mistake) {
        super(message(of, property, mistake.value, mistake.advice), mistake);
        this.property = property;
        this.value = mistake.value;
        this.advice = mistake.advice;
        setStackTrace(mistake.getStackTrace());
    }

    private static String message(@Nullable String of, String property, String shownValue, String advice) {
        return (of == null ? "" : of + ": ") + property + " is " + shownValue + "; " + advice;
    }

    private static String shown(@Nullable Object value) {
        if (value == null) {
            return "missing";
        }
        String text = value instanceof Number
                ? value.toString()
                : "'" + (value instanceof Duration time ? Durations.text(time) : value) + "'";
        return text.length() <= 120 ? text : text.substring(0, 117) + "...";
    }

    public final String property() {
        return property;
    }

    /** The refused value as it is shown to people: quoted if it is text, {@code missing} if there is none. */
    public final String value() {
        return value;
    }

    public final String advice() {
        return advice;
    }
}
