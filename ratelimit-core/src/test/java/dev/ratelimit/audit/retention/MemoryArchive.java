package dev.ratelimit.audit.retention;

import java.nio.file.Path;
import java.time.YearMonth;
import java.util.ArrayList;
import java.util.Iterator;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;

/** An archive in memory, with a hook before and after each step. */
final class MemoryArchive implements AuditArchive {

    /** A moment at which a test may do something, or let the process "die". */
    enum Stage {
        BEFORE_WRITE,
        AFTER_WRITE,
        AFTER_READ
    }

    /** Called at every step. */
    interface Hook {
        void at(Stage step);
    }

    private final Map<YearMonth, List<AuditRow>> archives = new TreeMap<>();
    private Hook hook = step -> {};
    private int writes;
    private boolean unlisted;

    void hook(Hook next) {
        hook = next;
    }

    void failToList() {
        unlisted = true;
    }

    void put(YearMonth month, List<AuditRow> rows) {
        archives.put(month, rows);
    }

    List<AuditRow> rows(YearMonth month) {
        return archives.getOrDefault(month, List.of());
    }

    int writes() {
        return writes;
    }

    @Override
    public List<Month> months() {
        if (unlisted) {
            throw new ArchiveException("could not list the archives");
        }
        return archives.entrySet().stream()
                .map(archive -> new Month(
                        archive.getKey(),
                        archive.getValue().size(),
                        List.of(Path.of(archive.getKey().toString()))))
                .toList();
    }

    @Override
    public boolean has(YearMonth month) {
        return archives.containsKey(month);
    }

    @Override
    public AuditRows read(YearMonth month) {
        Iterator<AuditRow> rows = List.copyOf(archives.get(month)).iterator();
        return new AuditRows() {
            @Override
            public boolean hasNext() {
                return rows.hasNext();
            }

            @Override
            public AuditRow next() {
                return rows.next();
            }

            @Override
            public void close() {
                hook.at(Stage.AFTER_READ);
            }
        };
    }

    @Override
    public void write(YearMonth month, AuditRows.Source source) {
        hook.at(Stage.BEFORE_WRITE);
        List<AuditRow> copy = new ArrayList<>();
        try (AuditRows rows = source.open()) {
            rows.forEachRemaining(copy::add);
        }
        archives.put(month, copy);
        writes++;
        hook.at(Stage.AFTER_WRITE);
    }

    @Override
    public void delete(YearMonth month) {
        archives.remove(month);
    }

    @Override
    public String toString() {
        return "memory";
    }
}
