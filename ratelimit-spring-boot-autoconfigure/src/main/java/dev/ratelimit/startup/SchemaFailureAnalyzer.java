package dev.ratelimit.startup;

import dev.ratelimit.schema.SchemaException;
import org.springframework.boot.diagnostics.AbstractFailureAnalyzer;
import org.springframework.boot.diagnostics.FailureAnalysis;

/** Reports that the tables cannot be used, and says who has to do what about it. */
public final class SchemaFailureAnalyzer extends AbstractFailureAnalyzer<SchemaException> {

    @Override
    protected FailureAnalysis analyze(Throwable rootFailure, SchemaException cause) {
        return new FailureAnalysis(
                "The tables of rate limits cannot be used: " + cause.getMessage() + ".", action(cause), cause);
    }

    private static String action(SchemaException cause) {
        return switch (cause.reason()) {
            case NEWER ->
                "Upgrade this application to the version of ratelimit that the newest application on this database uses, or"
                        + " set ratelimit.store.postgresql.schema or ratelimit.store.sqlite.path to another place.";
            case MISSING, OLDER ->
                "Let an administrator of the database run the named script, which is in the ratelimit-core jar. Or set"
                        + " ratelimit.store.migrate: true, if this user may create tables.";
            case FORBIDDEN ->
                "Allow it with GRANT CREATE ON DATABASE, or if the schema exists with GRANT USAGE, CREATE ON SCHEMA. Or let an"
                        + " administrator run the scripts in the folder"
                        + " dev/ratelimit/schema/postgresql of the ratelimit-core jar: V1__rate_limits.sql creates the tables,"
                        + " grants.sql lets this user use them. Then set ratelimit.store.migrate: false.";
            case OCCUPIED ->
                "Set ratelimit.store.postgresql.schema to a schema of its own, or ratelimit.store.sqlite.path to a file of"
                        + " its own. Or rename the object that is in the way. Nothing was changed.";
            case FAILED -> "Fix the cause in the database, then start again. Nothing was changed.";
        };
    }
}
