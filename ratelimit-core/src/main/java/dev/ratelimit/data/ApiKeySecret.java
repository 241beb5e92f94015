package dev.ratelimit.data;

import dev.ratelimit.admin.ApiKeyAdmin.IssuedKey;
import dev.ratelimit.support.Sha256;
import java.security.SecureRandom;
import java.util.Base64;
import java.util.HexFormat;

/** Generates and hashes API keys: {@code rl_}, an id that may be shown, {@code _}, and 192 random bits. */
final class ApiKeySecret {

    private static final String PREFIX = "rl_";
    private static final int ID_BYTES = 6;
    private static final int SECRET_BYTES = 24;
    private static final int MOST_CHARACTERS = 200;

    private static final SecureRandom RANDOM = new SecureRandom();

    private ApiKeySecret() {}

    static IssuedKey generate() {
        byte[] id = new byte[ID_BYTES];
        byte[] secret = new byte[SECRET_BYTES];
        RANDOM.nextBytes(id);
        RANDOM.nextBytes(secret);
        String written = HexFormat.of().formatHex(id);
        return new IssuedKey(
                written,
                PREFIX + written + '_' + Base64.getUrlEncoder().withoutPadding().encodeToString(secret));
    }

    /** Whether the text may be a key and is worth hashing. */
    static boolean canBeKey(String text) {
        return text.startsWith(PREFIX) && text.length() <= MOST_CHARACTERS;
    }

    /** A key has too many random bits to be guessed, so a fast hash without salt is as safe as a slow one. */
    static byte[] hash(String key) {
        return Sha256.of(key);
    }

    static String hashText(String key) {
        return HexFormat.of().formatHex(hash(key));
    }
}
