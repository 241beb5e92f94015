package dev.ratelimit.benchmark.peer;

import io.lettuce.core.RedisClient;
import io.lettuce.core.ScriptOutputType;
import io.lettuce.core.api.StatefulRedisConnection;
import io.lettuce.core.api.sync.RedisCommands;

/** A script, called once for each decision over one connection that all callers share. */
public final class RedisLua implements Peer {

    private static final String BUCKET = """
            local time = redis.call('TIME')
            local now = time[1] * 1000000 + time[2]
            local state = redis.call('HMGET', KEYS[1], 'tokens', 'at')
            local burst = tonumber(ARGV[1])
            local tokens = tonumber(state[1]) or burst
            local at = tonumber(state[2]) or now
            tokens = math.min(burst, tokens + math.max(0, now - at) * tonumber(ARGV[2]))
            local allowed = 0
            if tokens >= 1 then
                tokens = tokens - 1
                allowed = 1
                redis.call('HSET', KEYS[1], 'tokens', tokens, 'at', now)
                redis.call('PEXPIRE', KEYS[1], 86400000)
            end
            return allowed
            """;

    private static final String EMPTY = "return 1";

    private final StatefulRedisConnection<String, String> connection;
    private final RedisCommands<String, String> commands;
    private final String script;
    private final String prefix;
    private final String burst;

    private RedisLua(RedisClient client, String script, String prefix, long burst) {
        this.connection = client.connect();
        this.commands = connection.sync();
        this.script = commands.scriptLoad(script);
        this.prefix = prefix;
        this.burst = Long.toString(burst);
    }

    /** A token bucket that is all Lua: it reads the clock and the bucket, writes it and sets its expiry. */
    public static RedisLua bucket(RedisClient client, String prefix, long burst) {
        return new RedisLua(client, BUCKET, prefix, burst);
    }

    /** A script that does nothing: the least that one call of a script can cost. */
    public static RedisLua empty(RedisClient client) {
        return new RedisLua(client, EMPTY, "", 0);
    }

    @Override
    public boolean decide(int key) {
        Long allowed = commands.evalsha(
                script,
                ScriptOutputType.INTEGER,
                new String[] {prefix + key},
                burst,
                Double.toString(1.0 / 86400 / 1e6));
        return allowed == 1;
    }

    @Override
    public void close() {
        connection.close();
    }
}
