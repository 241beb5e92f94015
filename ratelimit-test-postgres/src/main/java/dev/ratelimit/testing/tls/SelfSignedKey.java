package dev.ratelimit.testing.tls;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.security.GeneralSecurityException;
import java.security.KeyStore;
import java.util.Base64;
import java.util.List;
import java.util.concurrent.TimeUnit;

/** A new key, and a certificate for {@code localhost} that it has signed itself. No key is kept in the repository. */
public final class SelfSignedKey {

    /** The password of the key store and of the key. */
    public static final String PASSWORD = "changeit";

    private static final String ALIAS = "server";

    private final Path folder;

    private SelfSignedKey(Path folder) {
        this.folder = folder;
    }

    /**
     * Makes it by the JDK's keytool.
     *
     * @param folder where its files are written
     */
    public static SelfSignedKey create(Path folder) throws IOException, InterruptedException {
        SelfSignedKey key = new SelfSignedKey(folder);
        Path output = folder.resolve("keytool.txt");
        Process keytool = new ProcessBuilder(List.of(
                        Path.of(System.getProperty("java.home"), "bin", "keytool")
                                .toString(),
                        "-genkeypair",
                        "-alias",
                        ALIAS,
                        "-keyalg",
                        "EC",
                        "-dname",
                        "CN=localhost",
                        "-ext",
                        "SAN=dns:localhost,ip:127.0.0.1",
                        "-storetype",
                        "PKCS12",
                        "-storepass",
                        PASSWORD,
                        "-keystore",
                        key.keyStore().toString()))
                .redirectErrorStream(true)
                .redirectOutput(output.toFile())
                .start();
        if (!keytool.waitFor(60, TimeUnit.SECONDS) || keytool.exitValue() != 0) {
            throw new IllegalStateException(Files.readString(output));
        }
        return key;
    }

    /** A file of type PKCS12 with both. It is also the trust store of clients. */
    public Path keyStore() {
        return folder.resolve("server.p12");
    }

    /** Writes the certificate as a PEM file. */
    public Path certificate() throws IOException, GeneralSecurityException {
        return pem("server.crt", "CERTIFICATE", open().getCertificate(ALIAS).getEncoded());
    }

    /** Writes the key as a PEM file that only its owner can read: PostgreSQL refuses others. */
    public Path privateKey() throws IOException, GeneralSecurityException {
        return pem(
                "server.key",
                "PRIVATE KEY",
                open().getKey(ALIAS, PASSWORD.toCharArray()).getEncoded());
    }

    private KeyStore open() throws IOException, GeneralSecurityException {
        return KeyStore.getInstance(keyStore().toFile(), PASSWORD.toCharArray());
    }

    private Path pem(String name, String kind, byte[] content) throws IOException {
        Path file = folder.resolve(name);
        Files.deleteIfExists(file);
        Files.createFile(file, PosixFilePermissions.asFileAttribute(PosixFilePermissions.fromString("rw-------")));
        String encoded = Base64.getMimeEncoder(64, "\n".getBytes(StandardCharsets.US_ASCII))
                .encodeToString(content);
        return Files.writeString(file, "-----BEGIN " + kind + "-----\n" + encoded + "\n-----END " + kind + "-----\n");
    }
}
