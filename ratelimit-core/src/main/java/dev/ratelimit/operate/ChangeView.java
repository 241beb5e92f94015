package dev.ratelimit.operate;

import dev.ratelimit.admin.ChangeLog;
import dev.ratelimit.operate.VersionView.Authorship;
import org.jspecify.annotations.Nullable;

/**
 * A change by an operator.
 *
 * @param id ascends in the order of the changes
 * @param action such as {@code set}, {@code roll-back}, {@code switch-off} or {@code block}
 * @param kind {@code limit}, {@code rule}, {@code quota}, {@code user}, {@code api-key} or {@code subject}
 * @param name the name of the limit, the rule or the user; the id of the API key; the text of the subject
 * @param before the state before, a JSON object, or {@code null} if there was none
 * @param after the state after, a JSON object, or {@code null} if there is none
 */
public record ChangeView(
        long id,
        String action,
        String kind,
        String name,
        Authorship change,
        @Nullable String before,
        @Nullable String after) {

    static ChangeView of(ChangeLog.LoggedChange entry) {
        return new ChangeView(
                entry.id(),
                entry.target().action(),
                entry.target().kind().keyword(),
                entry.target().name(),
                new Authorship(
                        entry.change().by(),
                        entry.at(),
                        entry.change().expiresAt(),
                        entry.change().reason()),
                entry.before(),
                entry.after());
    }
}
