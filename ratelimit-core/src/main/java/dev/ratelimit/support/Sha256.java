package dev.ratelimit.support;

import java.io.IOException;
import java.io.OutputStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.DigestInputStream;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.Base64;

/** SHA-256 of a text, or of a file. */
public final class Sha256 {

    private Sha256() {}

    public static byte[] of(String text) {
        return digest().digest(text.getBytes(StandardCharsets.UTF_8));
    }

    public static byte[] of(Path file) throws IOException {
        try (DigestInputStream bytes = new DigestInputStream(Files.newInputStream(file), digest())) {
            long unused = bytes.transferTo(OutputStream.nullOutputStream());
            return bytes.getMessageDigest().digest();
        }
    }

    private static MessageDigest digest() {
        try {
            return MessageDigest.getInstance("SHA-256");
        } catch (NoSuchAlgorithmException e) {
            throw new IllegalStateException("every Java platform has SHA-256", e);
        }
    }

    /** In 43 characters that are safe in a URL. */
    public static String base64(String text) {
        return Base64.getUrlEncoder().withoutPadding().encodeToString(of(text));
    }
}
