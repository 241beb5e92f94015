package dev.ratelimit.schema;

import dev.ratelimit.store.sqlite.SqliteFile;
import java.io.IOException;
import java.nio.file.Path;

/** Another process that starts on the SQLite file: says that it is ready, and migrates when it is told to. */
final class MigratingProcess {

    private MigratingProcess() {}

    public static void main(String[] arguments) throws IOException {
        SqliteFile file = SqliteFile.at(Path.of(arguments[0]));
        System.out.println("ready");
        System.out.flush();
        if (System.in.read() < 0) {
            throw new IllegalStateException("nobody told this process to go on");
        }
        Schema.migrate(file);
        System.out.println("migrated");
    }
}
