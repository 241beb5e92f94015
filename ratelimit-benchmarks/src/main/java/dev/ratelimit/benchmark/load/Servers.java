package dev.ratelimit.benchmark.load;

import com.zaxxer.hikari.HikariConfig;
import com.zaxxer.hikari.HikariDataSource;
import io.lettuce.core.RedisClient;
import io.lettuce.core.RedisURI;
import io.lettuce.core.api.StatefulRedisConnection;
import io.lettuce.core.cluster.RedisClusterClient;
import io.lettuce.core.cluster.api.StatefulRedisClusterConnection;
import io.zonky.test.db.postgres.embedded.EmbeddedPostgres;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.ServerSocket;
import java.nio.file.Files;
import java.nio.file.Path;
import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.List;
import java.util.concurrent.locks.LockSupport;
import redis.embedded.RedisServer;
import redis.embedded.RedisShardedCluster;

/** PostgreSQL and Redis with the durability that a server has by default, and a folder for files; all on this machine. */
public final class Servers implements AutoCloseable {

    private final Deque<AutoCloseable> open = new ArrayDeque<>();
    private final Deque<HikariDataSource> pools = new ArrayDeque<>();
    private final Path folder;
    private final String postgresUrl;
    private final int postgresPort;
    private final RedisClient redis;
    private final RedisClient durableRedis;
    private RedisClusterClient redisCluster;

    private Servers() throws Exception {
        this.folder = Files.createTempDirectory("ratelimit-benchmark");
        // The builder passes -F and synchronous_commit=off; settings made here come later and win.
        EmbeddedPostgres server = EmbeddedPostgres.builder()
                .setServerConfig("fsync", "on")
                .setServerConfig("synchronous_commit", "on")
                .setServerConfig("full_page_writes", "on")
                .setServerConfig("max_connections", "400")
                .setServerConfig("shared_buffers", "256MB")
                .setServerConfig("max_wal_size", "4GB")
                .setPGStartupWait(Duration.ofSeconds(60))
                .start();
        open.push(server);
        this.postgresPort = server.getPort();
        this.postgresUrl = server.getJdbcUrl("postgres", "postgres") + "&password=postgres";
        this.redis = redis(false);
        this.durableRedis = redis(true);
    }

    public static Servers start() throws Exception {
        return new Servers();
    }

    private RedisClient redis(boolean durable) throws IOException {
        int port;
        try (ServerSocket free = new ServerSocket(0)) {
            port = free.getLocalPort();
        }
        Path data = Files.createDirectory(folder.resolve(durable ? "redis-durable" : "redis"));
        RedisServer server = RedisServer.newRedisServer()
                .port(port)
                .setting("bind 127.0.0.1")
                .setting("dir " + data)
                .setting("appendonly " + (durable ? "yes" : "no"))
                .setting("appendfsync " + (durable ? "always" : "everysec"))
                .build();
        server.start();
        open.push(server::stop);
        RedisClient client = RedisClient.create(
                RedisURI.builder().withHost("127.0.0.1").withPort(port).build());
        open.push(client::shutdown);
        return client;
    }

    public RedisClient redis() {
        return redis;
    }

    public RedisClient durableRedis() {
        return durableRedis;
    }

    /** Three masters without replicas, which are started when they are first needed. */
    public RedisClusterClient redisCluster() {
        if (redisCluster == null) {
            redisCluster = newRedisCluster();
        }
        return redisCluster;
    }

    private RedisClusterClient newRedisCluster() {
        try {
            RedisShardedCluster servers = RedisShardedCluster.newRedisCluster()
                    .ephemeral()
                    .shard("first", 0)
                    .shard("second", 0)
                    .shard("third", 0)
                    .build();
            servers.start();
            open.push(servers::stop);
            RedisClusterClient client = RedisClusterClient.create(servers.ports().stream()
                    .map(port -> RedisURI.create("127.0.0.1", port))
                    .toList());
            open.push(client::shutdown);
            awaitAgreement(servers.ports());
            return client;
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    /** Until each server knows all slots, it answers that the cluster is down. */
    private static void awaitAgreement(List<Integer> ports) {
        long end = System.nanoTime() + Duration.ofSeconds(60).toNanos();
        for (int port : ports) {
            while (!isReady(port)) {
                if (System.nanoTime() - end > 0) {
                    throw new IllegalStateException("the Redis cluster is not ready after a minute");
                }
                LockSupport.parkNanos(Duration.ofMillis(50).toNanos());
            }
        }
    }

    private static boolean isReady(int port) {
        try (RedisClient client = RedisClient.create(RedisURI.create("127.0.0.1", port));
                StatefulRedisConnection<String, String> connection = client.connect()) {
            return connection.sync().clusterInfo().contains("cluster_state:ok");
        }
    }

    /** The process that serves the client. */
    public static ProcessHandle process(RedisClient client) {
        try (StatefulRedisConnection<String, String> connection = client.connect()) {
            return process(connection.sync().info("server"));
        }
    }

    /** The processes that serve the client. */
    public static List<ProcessHandle> processes(RedisClusterClient client) {
        try (StatefulRedisClusterConnection<String, String> connection = client.connect()) {
            return connection.sync().upstream().commands().info("server").stream()
                    .map(Servers::process)
                    .toList();
        }
    }

    private static ProcessHandle process(String info) {
        String number = info.lines()
                .filter(line -> line.startsWith("process_id:"))
                .findFirst()
                .orElseThrow()
                .substring("process_id:".length());
        return ProcessHandle.of(Long.parseLong(number))
                .orElseThrow(() -> new IllegalStateException("Redis does not run on this machine"));
    }

    public String postgresUrl() {
        return postgresUrl;
    }

    /** The process whose children serve the connections. */
    public ProcessHandle postgres() throws SQLException {
        try (Connection connection = DriverManager.getConnection(postgresUrl);
                Statement statement = connection.createStatement();
                ResultSet row = statement.executeQuery("SELECT pg_backend_pid()")) {
            row.next();
            return ProcessHandle.of(row.getLong(1))
                    .flatMap(ProcessHandle::parent)
                    .orElseThrow(() -> new IllegalStateException("the database does not run on this machine"));
        }
    }

    public Path folder() {
        return folder;
    }

    /** A pool of connections, which is closed with the others. */
    public HikariDataSource pool(int size) {
        return pool(size, postgresUrl);
    }

    /** A pool of connections to the same server as if it were so far away. */
    public HikariDataSource pool(int size, Duration roundTrip) throws IOException {
        if (roundTrip.isZero()) {
            return pool(size);
        }
        DelayingRelay relay = new DelayingRelay(postgresPort, roundTrip);
        open.push(relay);
        return pool(size, postgresUrl.replace(":" + postgresPort + "/", ":" + relay.port() + "/"));
    }

    private HikariDataSource pool(int size, String url) {
        HikariConfig config = new HikariConfig();
        config.setJdbcUrl(url);
        config.setMaximumPoolSize(size);
        config.addDataSourceProperty("prepareThreshold", "1");
        // The processor time of a connection that is replaced during a run would be lost.
        config.setMaxLifetime(0);
        HikariDataSource pool = new HikariDataSource(config);
        pools.push(pool);
        return pool;
    }

    /** Closes all pools: the servers take only so many connections. */
    public void closePools() {
        while (!pools.isEmpty()) {
            pools.pop().close();
        }
    }

    /** The versions and settings of the servers. */
    public String settings() throws SQLException {
        StringBuilder settings = new StringBuilder("PostgreSQL ");
        try (Connection connection = DriverManager.getConnection(postgresUrl);
                Statement statement = connection.createStatement()) {
            for (String name : new String[] {
                "server_version", "fsync", "synchronous_commit", "full_page_writes", "wal_sync_method", "shared_buffers"
            }) {
                try (ResultSet row = statement.executeQuery("SHOW " + name)) {
                    row.next();
                    settings.append(name).append('=').append(row.getString(1)).append(' ');
                    if ((name.equals("fsync") || name.equals("synchronous_commit"))
                            && !row.getString(1).equals("on")) {
                        throw new IllegalStateException(name + " is " + row.getString(1) + ", and must be on");
                    }
                }
            }
        }
        return settings.toString().strip() + "\nRedis " + redisSettings(redis) + "\nRedis, durable "
                + redisSettings(durableRedis);
    }

    private static String redisSettings(RedisClient client) {
        try (StatefulRedisConnection<String, String> connection = client.connect()) {
            String version = connection
                    .sync()
                    .info("server")
                    .lines()
                    .filter(line -> line.startsWith("redis_version"))
                    .findFirst()
                    .orElse("");
            return version + " appendonly="
                    + connection.sync().configGet("appendonly").get("appendonly") + " appendfsync="
                    + connection.sync().configGet("appendfsync").get("appendfsync");
        }
    }

    @Override
    public void close() throws Exception {
        closePools();
        while (!open.isEmpty()) {
            open.pop().close();
        }
    }
}
