package dev.ratelimit.store.redis;

import io.lettuce.core.cluster.SlotHash;
import io.lettuce.core.cluster.api.sync.RedisClusterCommands;
import io.lettuce.core.codec.ByteArrayCodec;
import io.lettuce.core.output.ArrayOutput;
import io.lettuce.core.protocol.AsyncCommand;
import io.lettuce.core.protocol.Command;
import java.io.IOException;
import java.util.ArrayDeque;
import java.util.List;
import java.util.Map;
import java.util.Queue;
import java.util.concurrent.ConcurrentHashMap;

/**
 * One server whose keys are in the slots that they would have in a cluster. A test may do something between the decision and
 * the command that goes to a slot.
 */
final class HeldUpServers extends RedisServers {

    /** An action before a command goes. */
    interface Before {

        /** Whether the command goes at all. */
        boolean isSent() throws Exception;
    }

    /** Thrown before a command: it is carried out, but its answer does not arrive. */
    static final class LostAnswerException extends IOException {

        private static final long serialVersionUID = 1L;

        LostAnswerException() {
            super("the answer is lost");
        }
    }

    /** Thrown before a command that a replica has to acknowledge: it is carried out, but no replica has it in time. */
    static final class NoReplicaException extends IOException {

        private static final long serialVersionUID = 1L;
    }

    private final RedisServers servers;
    private final Map<Integer, Queue<Before>> before = new ConcurrentHashMap<>();

    HeldUpServers(RedisServers servers) {
        this.servers = servers;
    }

    /** Does that before the next command to the slot of the key, or before the one after, if there is one waiting. */
    void before(String key, Before action) {
        before.computeIfAbsent(SlotHash.getSlot(key), slot -> new ArrayDeque<>())
                .add(action);
    }

    @Override
    int slot(byte[] key) {
        return SlotHash.getSlot(key);
    }

    @Override
    String node(int slot) {
        return servers.node(0);
    }

    @Override
    int part(int slot) {
        return slot;
    }

    @Override
    boolean isOne() {
        return false;
    }

    @Override
    void send(int slot, AsyncCommand<byte[], byte[], ?> command) {
        sendTogether(slot, List.of(command));
    }

    @Override
    void sendTogether(int slot, List<AsyncCommand<byte[], byte[], ?>> commands) {
        Queue<Before> waiting = before.get(slot);
        Before action = waiting == null ? null : waiting.poll();
        try {
            if (action == null || action.isSent()) {
                servers.sendTogether(0, commands);
            }
        } catch (LostAnswerException e) {
            commands.forEach(this::carryOut);
            commands.forEach(command -> command.completeExceptionally(e));
        } catch (NoReplicaException e) {
            servers.sendTogether(0, commands.subList(0, 1));
            AsyncCommand<byte[], byte[], ?> acknowledgement = commands.get(1);
            acknowledgement.getOutput().set(0);
            acknowledgement.complete();
        } catch (Exception e) {
            commands.forEach(command -> command.completeExceptionally(e));
        }
    }

    /** Waits until the server has done it. */
    private void carryOut(AsyncCommand<byte[], byte[], ?> command) {
        AsyncCommand<byte[], byte[], List<Object>> copy = new AsyncCommand<>(
                new Command<>(command.getType(), new ArrayOutput<>(ByteArrayCodec.INSTANCE), command.getArgs()));
        servers.send(0, copy);
        List<Object> unused = copy.toCompletableFuture().join();
    }

    @Override
    void sendTogether(Redirection to, List<AsyncCommand<byte[], byte[], ?>> commands) {
        servers.sendTogether(to, commands);
    }

    @Override
    void answered(String node) {
        servers.answered(node);
    }

    @Override
    void missed(String node) {
        servers.missed(node);
    }

    @Override
    void refresh() {
        servers.refresh();
    }

    @Override
    void look(Runnable ended) {
        servers.look(ended);
    }

    @Override
    RedisClusterCommands<byte[], byte[]> commands() {
        return servers.commands();
    }

    @Override
    public void close() {
        servers.close();
    }
}
