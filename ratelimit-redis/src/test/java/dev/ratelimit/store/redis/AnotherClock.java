package dev.ratelimit.store.redis;

import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Assumptions;

/** Gives a server a clock that is not the one of this machine. */
public final class AnotherClock {

    private static final List<Path> FAKETIME = List.of(
            Path.of("/usr/lib/x86_64-linux-gnu/faketime/libfaketimeMT.so.1"),
            Path.of("/usr/lib/faketime/libfaketimeMT.so.1"));

    private AnotherClock() {}

    /**
     * The environment of the server.
     *
     * @param offset a file with the difference in seconds, such as {@code +600}; it may change
     */
    public static Map<String, String> in(Path offset) {
        Path library = FAKETIME.stream().filter(Files::exists).findFirst().orElse(null);
        Assumptions.assumeTrue(library != null, "libfaketime is not installed: no server can be given another clock");
        return Map.of(
                "LD_PRELOAD",
                library.toString(),
                "FAKETIME_TIMESTAMP_FILE",
                offset.toString(),
                "FAKETIME_NO_CACHE",
                "1",
                "FAKETIME_DONT_FAKE_MONOTONIC",
                "1");
    }
}
