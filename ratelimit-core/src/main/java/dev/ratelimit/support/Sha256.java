package dev.ratelimit.support;

import java.nio.charset.StandardCharsets;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.Base64;

/** SHA-256 of a text. */
public final class Sha256 {

    private Sha256() {}

    public static byte[] of(String text) {
        try {
            return MessageDigest.getInstance("SHA-256").digest(text.getBytes(StandardCharsets.UTF_8));
        } catch (NoSuchAlgorithmException e) {
            throw new IllegalStateException("every Java platform has SHA-256", e);
        }
    }

    /** In 43 characters that are safe in a URL. */
    public static String base64(String text) {
        return Base64.getUrlEncoder().withoutPadding().encodeToString(of(text));
    }
}
