package dev.ratelimit.store.redis;

import dev.ratelimit.store.redis.RedisServers.Redirection;
import dev.ratelimit.store.redis.Unit.Result;
import io.lettuce.core.RedisCommandExecutionException;
import io.lettuce.core.RedisCommandTimeoutException;
import io.lettuce.core.RedisNoScriptException;
import io.lettuce.core.codec.ByteArrayCodec;
import io.lettuce.core.output.IntegerOutput;
import io.lettuce.core.protocol.AsyncCommand;
import io.lettuce.core.protocol.Command;
import io.lettuce.core.protocol.CommandArgs;
import io.lettuce.core.protocol.CommandType;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import org.jspecify.annotations.Nullable;

/** Sends the swaps of a round to all servers at once, waits for their answers, and tells each unit its outcome. */
final class SwapCalls {

    /** The keys are on their way to another server. The client follows, unless they are on both. */
    private static final List<String> ON_THE_MOVE = List.of("MOVED ", "ASK ", "TRYAGAIN ");

    private final RedisServers servers;
    private final RememberedValues remembered;
    private final ServerClocks clocks;
    private final RedisOptions options;

    SwapCalls(RedisServers servers, RememberedValues remembered, ServerClocks clocks, RedisOptions options) {
        this.servers = servers;
        this.remembered = remembered;
        this.clocks = clocks;
        this.options = options;
    }

    /** A swap on its way. */
    private record Sent(
            Swap swap,
            String node,
            AsyncCommand<byte[], byte[], SwapReply> command,
            @Nullable AsyncCommand<byte[], byte[], Long> acknowledgement) {}

    /**
     * @param moment which the values were decided for, in microseconds
     * @param isScriptKnown whether the servers have the script, as far as is known
     * @param deadlineNanos when to give up
     * @return whether they have
     */
    boolean run(List<Swap> swaps, long moment, boolean isScriptKnown, long deadlineNanos) {
        List<Sent> sent = new ArrayList<>(swaps.size());
        for (Swap swap : swaps) {
            try {
                sent.add(send(swap, moment, isScriptKnown, deadlineNanos));
            } catch (RuntimeException e) {
                failed(swap, e); // nothing was sent, for instance because no server has the slot
            }
        }
        boolean known = true;
        for (Sent one : sent) {
            try {
                finish(follow(one, moment, isScriptKnown, deadlineNanos), deadlineNanos);
            } catch (RedisNoScriptException e) {
                known = false;
                one.swap.units().forEach(unit -> unit.end(Result.REFUSED));
            } catch (Exception e) {
                failed(one.swap, e);
            }
        }
        return known;
    }

    /** The client does not follow redirections of commands that stay together. They are sent again to the server that was named, once. */
    private Sent follow(Sent one, long moment, boolean isScriptKnown, long deadlineNanos) throws Exception {
        if (one.acknowledgement == null) {
            return one;
        }
        try {
            SwapReply unused = await(one, deadlineNanos);
            return one;
        } catch (RedisCommandExecutionException e) {
            Redirection to = Redirection.in(e.getMessage());
            if (to == null) {
                throw e;
            }
            if (!to.isOnce()) {
                servers.refresh();
            }
            var command = one.swap.command(moment, options.clock() != null, isScriptKnown);
            var acknowledgement = acknowledgement(deadlineNanos);
            servers.sendTogether(to, List.of(command, acknowledgement));
            return new Sent(one.swap, to.host() + ":" + to.port(), command, acknowledgement);
        }
    }

    private void finish(Sent one, long deadlineNanos) throws Exception {
        SwapReply reply = await(one, deadlineNanos);
        clocks.told(one.node, reply.time());
        told(one.swap, reply);
        if (one.acknowledgement != null) {
            try {
                requireAcknowledged(one.acknowledgement, deadlineNanos);
            } catch (Exception e) {
                SwapFailure failure = SwapFailure.afterCommand(e);
                one.swap.units().forEach(unit -> unit.fail(failure));
            }
        }
    }

    private SwapReply await(Sent one, long deadlineNanos) throws Exception {
        try {
            SwapReply reply = await(one.command, deadlineNanos);
            servers.answered(one.node);
            return reply;
        } catch (RedisCommandExecutionException e) {
            servers.answered(one.node);
            throw e;
        } catch (TimeoutException | RedisCommandTimeoutException e) {
            servers.missed(one.node);
            throw new TimeoutException("no answer in time");
        }
    }

    private Sent send(Swap swap, long moment, boolean isScriptKnown, long deadlineNanos) {
        AsyncCommand<byte[], byte[], SwapReply> command = swap.command(moment, options.clock() != null, isScriptKnown);
        String node = servers.node(swap.slot());
        if (options.acknowledge() == Acknowledge.MASTER || !swap.isWriting()) {
            servers.send(swap.slot(), command);
            return new Sent(swap, node, command, null);
        }
        AsyncCommand<byte[], byte[], Long> acknowledgement = acknowledgement(deadlineNanos);
        servers.sendTogether(swap.slot(), List.of(command, acknowledgement));
        return new Sent(swap, node, command, acknowledgement);
    }

    private static AsyncCommand<byte[], byte[], Long> acknowledgement(long deadlineNanos) {
        long millis = Math.max(1, TimeUnit.NANOSECONDS.toMillis(deadlineNanos - System.nanoTime()));
        return new AsyncCommand<>(new Command<>(
                CommandType.WAIT,
                new IntegerOutput<>(ByteArrayCodec.INSTANCE),
                new CommandArgs<>(ByteArrayCodec.INSTANCE).add(1).add(millis)));
    }

    private void told(Swap swap, SwapReply reply) {
        if (reply.isRefused()) {
            swap.units().forEach(unit -> unit.end(Result.REFUSED));
            return;
        }
        int key = 0;
        for (Unit unit : swap.units()) {
            told(unit, reply, key);
            key += unit.rows().size();
        }
    }

    private void told(Unit unit, SwapReply reply, int firstKey) {
        boolean unchanged = true;
        for (int i = 0; i < unit.rows().size(); i++) {
            unchanged &= reply.found(firstKey + i) == null;
        }
        for (int i = 0; i < unit.rows().size(); i++) {
            Row row = unit.rows().get(i);
            byte[] found = reply.found(firstKey + i);
            if (found != null) {
                try {
                    row.found(decode(row, found));
                } catch (IllegalArgumentException e) {
                    unit.fail(SwapFailure.ofValue(row.key, e)); // the others are as the server said
                    return;
                }
                remembered.lost(row.key, row.known());
            } else if (unchanged && row.isChanged()) {
                row.markWritten();
                remembered.won(row.key, row.known());
            } else {
                row.confirm();
            }
        }
        unit.end(unchanged ? Result.DONE : Result.LOST);
    }

    private static Stored decode(Row row, byte[] found) {
        try {
            if (found == SwapReply.NO_STRING) {
                throw new IllegalArgumentException("WRONGTYPE: it holds no string");
            }
            if (found == SwapReply.TOO_LONG) {
                throw new IllegalArgumentException("it is longer than any value of a limit");
            }
            return StoredCodec.decode(found);
        } catch (IllegalArgumentException e) {
            throw new IllegalArgumentException(
                    "the key " + new String(row.name, StandardCharsets.UTF_8)
                            + " has a value that this store has not written; delete it, or use another key-prefix ("
                            + e.getMessage() + ")",
                    e);
        }
    }

    private static void requireAcknowledged(Future<Long> acknowledgement, long deadlineNanos) throws Exception {
        if (await(acknowledgement, deadlineNanos) < 1) {
            throw new TimeoutException("no replica has acknowledged the decision in time");
        }
    }

    private void failed(Swap swap, Exception e) {
        String message = String.valueOf(e.getMessage());
        if (message.startsWith("MOVED ") || SwapFailure.isOfNoMaster(e)) {
            servers.refresh();
        }
        if (ON_THE_MOVE.stream().anyMatch(message::startsWith)) {
            swap.units().forEach(unit -> unit.moving(message));
        } else {
            SwapFailure failure = SwapFailure.ofCommand(e);
            swap.units().forEach(unit -> unit.fail(failure));
        }
    }

    /** Waits until the deadline, also if it is interrupted. */
    private static <T> T await(Future<T> command, long deadlineNanos) throws Exception {
        boolean interrupted = false;
        try {
            while (true) {
                try {
                    return command.get(Math.max(0, deadlineNanos - System.nanoTime()), TimeUnit.NANOSECONDS);
                } catch (InterruptedException e) {
                    interrupted = true;
                } catch (ExecutionException e) {
                    throw e.getCause() instanceof Exception cause ? cause : e;
                } catch (TimeoutException e) {
                    command.cancel(true);
                    throw new TimeoutException("no answer in time");
                }
            }
        } finally {
            if (interrupted) {
                Thread.currentThread().interrupt();
            }
        }
    }
}
