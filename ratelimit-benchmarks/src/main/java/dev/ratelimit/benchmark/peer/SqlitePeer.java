package dev.ratelimit.benchmark.peer;

import java.nio.file.Path;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.concurrent.locks.ReentrantLock;
import org.sqlite.SQLiteConfig;
import org.sqlite.SQLiteDataSource;

/** A transaction for each decision on an SQLite file: read, decide, write, commit, on one connection under a lock. */
public final class SqlitePeer implements Peer {

    private final Connection connection;
    private final ReentrantLock lock = new ReentrantLock();
    private final PreparedStatement begin;
    private final PreparedStatement select;
    private final PreparedStatement write;
    private final PreparedStatement commit;
    private final long burst;

    public SqlitePeer(Path file, boolean full, long burst) throws SQLException {
        SQLiteConfig config = new SQLiteConfig();
        config.setJournalMode(SQLiteConfig.JournalMode.WAL);
        config.setSynchronous(full ? SQLiteConfig.SynchronousMode.FULL : SQLiteConfig.SynchronousMode.NORMAL);
        SQLiteDataSource source = new SQLiteDataSource(config);
        source.setUrl("jdbc:sqlite:" + file);
        this.connection = source.getConnection();
        this.burst = burst;
        try (Statement statement = connection.createStatement()) {
            statement.execute("CREATE TABLE buckets (id TEXT PRIMARY KEY, tokens INTEGER, at INTEGER) WITHOUT ROWID");
        }
        this.begin = connection.prepareStatement("BEGIN IMMEDIATE");
        this.select = connection.prepareStatement("SELECT tokens, at FROM buckets WHERE id = ?");
        this.write = connection.prepareStatement("INSERT INTO buckets (id, tokens, at) VALUES (?, ?, ?)"
                + " ON CONFLICT (id) DO UPDATE SET tokens = excluded.tokens, at = excluded.at");
        this.commit = connection.prepareStatement("COMMIT");
    }

    @Override
    public boolean decide(int key) throws SQLException {
        lock.lock();
        try {
            begin.executeUpdate();
            String id = "user:user" + key;
            long tokens = burst;
            select.setString(1, id);
            try (ResultSet row = select.executeQuery()) {
                if (row.next()) {
                    tokens = row.getLong(1);
                }
            }
            boolean allowed = tokens > 0;
            if (allowed) {
                write.setString(1, id);
                write.setLong(2, tokens - 1);
                write.setLong(3, System.currentTimeMillis());
                write.executeUpdate();
            }
            commit.executeUpdate();
            return allowed;
        } finally {
            lock.unlock();
        }
    }

    @Override
    public void close() throws SQLException {
        connection.close();
    }
}
