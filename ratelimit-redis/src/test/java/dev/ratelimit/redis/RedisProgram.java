package dev.ratelimit.redis;

import java.io.File;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import redis.embedded.core.ExecutableProvider;

/**
 * The program that tests run as their server.
 *
 * @param path such as {@code /usr/bin/redis-server}
 */
public record RedisProgram(String path) {

    /** The property that names the program, such as {@code redis-server}. */
    private static final String PROPERTY = "redis.server";

    private static final Pattern VERSION = Pattern.compile("v=(\\d+)\\.");

    /** The one that the property names, else the one that the tests bring along. */
    public static RedisProgram chosen() {
        String named = System.getProperty(PROPERTY, "");
        return named.isEmpty() ? bundled() : find(named);
    }

    /** The one that the tests bring along: Redis 6.2. */
    public static RedisProgram bundled() {
        try {
            return new RedisProgram(
                    ExecutableProvider.newJarResourceProvider().get().getAbsolutePath());
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    /** The one that the machine has. */
    public static RedisProgram installed() {
        return find("redis-server");
    }

    /** Whether the machine has a Redis server: another version than the one that the tests bring along. */
    public static boolean isInstalled() {
        return onPath("redis-server").findAny().isPresent();
    }

    private static RedisProgram find(String program) {
        return onPath(program)
                .findFirst()
                .map(found -> new RedisProgram(found.toString()))
                .orElseThrow(() -> new IllegalStateException(program + " is not installed; -D" + PROPERTY
                        + " names the program of a Redis server, such as /usr/bin/redis-server"));
    }

    /** A path that is absolute stays as it is. */
    private static Stream<Path> onPath(String program) {
        return Stream.of(System.getenv("PATH").split(File.pathSeparator))
                .map(folder -> Path.of(folder).resolve(program))
                .filter(Files::isExecutable);
    }

    /** The same program in a folder of its own: the library of the tests lets a server write its files beside its program. */
    File linked() throws IOException {
        Path folder = Files.createTempDirectory("redis");
        return Files.createSymbolicLink(folder.resolve("redis-server"), Path.of(path))
                .toFile();
    }

    /** The settings with which this version does all that tests ask for. From 7.0 on, a server refuses DEBUG by default. */
    public List<String> settings() {
        return major() < 7 ? List.of() : List.of("enable-debug-command yes");
    }

    private int major() {
        try {
            Process process = new ProcessBuilder(path, "--version").start();
            String version = new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
            Matcher matcher = VERSION.matcher(version);
            if (!matcher.find()) {
                throw new IllegalStateException(path + " --version said '" + version + "'");
            }
            return Integer.parseInt(matcher.group(1));
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }
}
