package dev.ratelimit.setting;

import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/** An invalid property, by its full name. */
public final class InvalidPropertyException extends InvalidSettingException {

    private static final long serialVersionUID = 1L;

    public InvalidPropertyException(String property, @Nullable Object value, String advice) {
        super(property, value, advice);
    }

    private InvalidPropertyException(String property, InvalidSettingException mistake) {
        super(null, property, mistake);
    }

    /** Makes a part of the properties under this prefix. The exception of an invalid one names its full property. */
    public static <T> T under(String prefix, Supplier<T> part) {
        try {
            return part.get();
        } catch (InvalidSettingException e) {
            throw new InvalidPropertyException(prefix + e.property(), e);
        }
    }

    /** Makes a part of this property. */
    public static <T> T at(String property, Supplier<T> part) {
        try {
            return part.get();
        } catch (InvalidSettingException e) {
            throw new InvalidPropertyException(property, e);
        }
    }
}
