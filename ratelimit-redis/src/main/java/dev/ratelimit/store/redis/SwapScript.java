package dev.ratelimit.store.redis;

import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.HexFormat;

/** The script {@code swap.lua}, and the name by which a server knows it. */
public final class SwapScript {

    static final byte[] TEXT = read();

    static final byte[] SHA1 = sha1(TEXT);

    private SwapScript() {}

    /** The script, to check that a server runs it. */
    public static String text() {
        return new String(TEXT, StandardCharsets.UTF_8);
    }

    private static byte[] read() {
        try (InputStream in = SwapScript.class.getResourceAsStream("swap.lua")) {
            if (in == null) {
                throw new IllegalStateException("swap.lua is missing on the class path");
            }
            return in.readAllBytes();
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    /** The digest that Redis computes, too. */
    private static byte[] sha1(byte[] text) {
        try {
            byte[] digest = MessageDigest.getInstance("SHA-1").digest(text);
            return HexFormat.of().formatHex(digest).getBytes(StandardCharsets.US_ASCII);
        } catch (NoSuchAlgorithmException e) {
            throw new IllegalStateException(e);
        }
    }
}
