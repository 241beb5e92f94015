package dev.ratelimit.admin;

/**
 * An API key that was just made: the only moment at which it can be seen.
 *
 * @param id what it is called from now on
 * @param secret the whole key, as the client has to send it; it is stored nowhere
 */
public record IssuedKey(String id, String secret) {

    /** Without the secret: it would end in a log. */
    @Override
    public String toString() {
        return "IssuedKey[id=" + id + "]";
    }
}
