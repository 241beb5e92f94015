package dev.ratelimit.admin.version;

import java.time.Instant;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * The versions of one name that lie over each other at a moment. When the upper one ends, the one below applies again; below all of
 * them is the configuration.
 */
public final class Layers {

    private Layers() {}

    /** The versions that have not expired, the newest first, down to one that is {@linkplain Version.State#REMOVED removed}. */
    public static <T> List<Version<T>> of(List<Version<T>> newestFirst, Instant now) {
        List<Version<T>> layers = new ArrayList<>(1);
        for (Version<T> version : newestFirst) {
            if (!version.hasExpired(now)) {
                layers.add(version);
                if (version.state() == Version.State.REMOVED) {
                    break;
                }
            }
        }
        return layers;
    }

    /**
     * Drafts the versions that put layers in force again, each with its own end: first the lowest one, a removal if all of them end.
     * Versions are only ever added, so this is how a switch is taken back.
     *
     * @param history all versions of the name, the newest first
     * @param layers the newest first
     * @param change its end is also that of every layer, if it has one
     */
    public static <T> List<Version<T>> again(
            String name, List<Version<T>> history, List<Version<T>> layers, Change change, Instant now) {
        List<Version<T>> needed = new ArrayList<>();
        boolean lasting = false;
        for (Version<T> layer : layers) {
            if (!lasting && layer.state() != Version.State.BROKEN) {
                needed.add(layer);
                lasting = layer.expiresAt() == null;
            }
        }
        Collections.reverse(needed);
        List<Version<T>> drafts = new ArrayList<>();
        List<Version<T>> all = new ArrayList<>(history);
        if (!lasting) {
            add(Version.draft(name, all, Version.State.REMOVED, null, change, now), all, drafts);
        }
        for (Version<T> layer : needed) {
            Change ending = change.endingBy(layer.expiresAt());
            add(Version.draft(name, all, layer.state(), layer.content(), ending, now), all, drafts);
        }
        return drafts;
    }

    private static <T> void add(Version<T> draft, List<Version<T>> all, List<Version<T>> drafts) {
        all.add(0, draft);
        drafts.add(draft);
    }

    /**
     * The change that applies an earlier version again: it keeps the end of that version, unless it has one of its own.
     *
     * @param kind limit or rule, for the message
     * @throws IllegalArgumentException if that end is over
     */
    public static Change rollback(Version<?> to, String kind, Change change, Instant now) {
        @Nullable Instant end = to.expiresAt();
        if (end == null || change.expiresAt() != null) {
            return change;
        }
        if (to.hasExpired(now)) {
            throw new IllegalArgumentException("version " + to.number() + " of " + kind + " '" + to.name()
                    + "' was temporary and ended at " + end + "; give it a new end, or name another version");
        }
        return change.until(end);
    }
}
