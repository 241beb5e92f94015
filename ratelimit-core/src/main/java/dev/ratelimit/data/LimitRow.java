package dev.ratelimit.data;

import dev.ratelimit.InvalidLimitException;
import dev.ratelimit.admin.Revision;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import org.springframework.data.annotation.Id;
import org.springframework.data.relational.core.mapping.Embedded;
import org.springframework.data.relational.core.mapping.Embedded.OnEmpty;
import org.springframework.data.relational.core.mapping.Table;
import org.springframework.data.repository.Repository;

/**
 * A version of a limit.
 *
 * @param definition the lines of the definition; {@code null} if the configuration applies again
 */
@Table("rate_limit_configs")
record LimitRow(
        @Id @Nullable Long id,
        String resource,
        int version,
        @Nullable String definition,
        @Embedded(onEmpty = OnEmpty.USE_EMPTY) VersionColumns stored) {

    static LimitRow of(Revision<Map<String, String>> version) {
        Map<String, String> definition = version.content();
        return new LimitRow(
                null,
                version.name(),
                version.version(),
                definition == null ? null : Definition.text(definition),
                VersionColumns.of(version));
    }

    Revision<Map<String, String>> revision() {
        if (definition == null) {
            return revision(Revision.State.REMOVED, null, null);
        }
        try {
            return revision(Revision.State.SET, Definition.parse(resource, definition), null);
        } catch (InvalidLimitException e) {
            return revision(Revision.State.BROKEN, null, e.getMessage());
        }
    }

    private Revision<Map<String, String>> revision(
            Revision.State state, @Nullable Map<String, String> content, @Nullable String problem) {
        return new Revision<>(
                resource,
                version,
                state,
                content,
                problem,
                stored.change(),
                stored.at(),
                id == null ? Revision.NOT_STORED : id);
    }

    interface Rows extends Repository<LimitRow, Long> {

        List<LimitRow> findAllByOrderByResourceAscVersionDesc();

        List<LimitRow> findByResourceOrderByVersionDesc(String resource);

        LimitRow save(LimitRow version);
    }
}
