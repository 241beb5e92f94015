package dev.ratelimit.testing.postgres;

import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.util.Objects;

/** The settings and statements of {@code docs/recovery.md}, so that tests run exactly these. */
public final class Recipe {

    private final String text;

    private Recipe(String text) {
        this.text = text;
    }

    /** The recipe in a file of the folder {@code recovery}. */
    public static Recipe of(String file) {
        try (InputStream stream = Recipe.class.getResourceAsStream("/recovery/" + file)) {
            return new Recipe(new String(Objects.requireNonNull(stream, file).readAllBytes(), StandardCharsets.UTF_8));
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    /** The same with another value for an example. */
    public Recipe with(String example, String value) {
        if (!text.contains(example)) {
            throw new IllegalArgumentException("there is no " + example + " in " + text);
        }
        return new Recipe(text.replace(example, value));
    }

    /** All of it. */
    public String text() {
        return text;
    }
}
