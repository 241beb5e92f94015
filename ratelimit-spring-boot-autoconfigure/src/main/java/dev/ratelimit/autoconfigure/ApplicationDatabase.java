package dev.ratelimit.autoconfigure;

import org.jspecify.annotations.Nullable;

/** Where the application's own database is. */
record ApplicationDatabase(
        String url, @Nullable String username, @Nullable String password) {

    boolean isPostgres() {
        return url.startsWith("jdbc:postgresql:");
    }

    /** Keeps the password out of logs. */
    @Override
    public String toString() {
        return "ApplicationDatabase[" + url + "]";
    }
}
