package dev.ratelimit.sample;

import java.util.List;

class SqliteIncidentTest extends IncidentContract {

    @Override
    List<String> database() {
        return List.of("--ratelimit.store.sqlite.path=" + folder.resolve("ratelimit.db"));
    }
}
