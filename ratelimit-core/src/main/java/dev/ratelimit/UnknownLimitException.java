package dev.ratelimit;

import java.util.Collection;
import java.util.TreeSet;

/** A limit was asked for by a name that no limit has. */
public final class UnknownLimitException extends IllegalArgumentException {

    private static final long serialVersionUID = 1L;

    private final String name;

    public UnknownLimitException(String name, Collection<String> known) {
        super("no limit is called '" + name + "'; "
                + (known.isEmpty()
                        ? "no limit is defined"
                        : "the defined limits are " + String.join(", ", new TreeSet<>(known))));
        this.name = name;
    }

    public String name() {
        return name;
    }
}
