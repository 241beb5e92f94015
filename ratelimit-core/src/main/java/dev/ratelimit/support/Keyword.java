package dev.ratelimit.support;

import java.util.Locale;

/** The words for the constants of an enum. */
public final class Keyword {

    private Keyword() {}

    /** The word in configuration, messages and the states that operators see, such as {@code half-open}. */
    public static String of(Enum<?> constant) {
        return ofData(constant).replace('_', '-');
    }

    /**
     * The word in data that tools compare: columns, tags of meters, and the outcomes in JSON, such as
     * {@code unknown_api_key}. A word from one of them is found in the others.
     */
    public static String ofData(Enum<?> constant) {
        return constant.name().toLowerCase(Locale.ROOT);
    }
}
