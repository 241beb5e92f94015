package dev.ratelimit.store.redis;

import static org.assertj.core.api.Assertions.assertThat;

import io.lettuce.core.RedisCommandExecutionException;
import io.lettuce.core.RedisConnectionException;
import io.lettuce.core.RedisException;
import java.io.IOException;
import java.util.concurrent.CancellationException;
import java.util.concurrent.TimeoutException;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;
import org.junit.jupiter.params.provider.ValueSource;

/** A refund is made again only if it was surely not made. */
class SwapFailureTest {

    @ParameterizedTest
    @ValueSource(
            strings = {
                "LOADING Redis is loading the dataset in memory",
                "OOM command not allowed when used memory > 'maxmemory'. script: 0a1b, on @user_script:61.",
                "ERR Error running script (call to f_0a1b): @user_script:61: @user_script: 61: -OOM command not allowed",
                "CLUSTERDOWN Hash slot not served",
                "NOAUTH Authentication required."
            })
    void errorBeforeTheFirstWriteLeavesNothing(String error) {
        assertThat(SwapFailure.ofCommand(new RedisCommandExecutionException(error))
                        .mayHaveWritten())
                .isFalse();
    }

    @ParameterizedTest
    @ValueSource(
            strings = {"ERR an error that nobody knows", "ERR the words OOM or READONLY in another place", "OOMPH"})
    void anyOtherErrorOfAServerMayComeAfterAWrite(String error) {
        assertThat(SwapFailure.ofCommand(new RedisCommandExecutionException(error))
                        .mayHaveWritten())
                .isTrue();
    }

    static Stream<Exception> lostAnswers() {
        return Stream.of(
                new TimeoutException("no answer in time"),
                new CancellationException(),
                new RedisException("Connection closed"),
                new IOException("Connection reset by peer"));
    }

    @ParameterizedTest
    @MethodSource("lostAnswers")
    void commandWithoutAnAnswerMayHaveWritten(Exception lost) {
        assertThat(SwapFailure.ofCommand(lost).mayHaveWritten()).isTrue();
    }

    @Test
    void commandThatWasNotSentHasNotWritten() {
        assertThat(SwapFailure.ofCommand(new RedisConnectionException("Unable to connect"))
                        .mayHaveWritten())
                .isFalse();
        assertThat(SwapFailure.ofCommand(new RedisException("Currently not connected. Commands are rejected."))
                        .mayHaveWritten())
                .isFalse();
    }

    @Test
    void commandThatWasNotAcknowledgedHasWritten() {
        assertThat(SwapFailure.afterCommand(new RedisConnectionException("lost"))
                        .mayHaveWritten())
                .isTrue();
    }
}
