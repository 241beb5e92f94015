package dev.ratelimit.archive;

import dev.ratelimit.setting.InvalidPropertyException;
import java.io.IOException;
import java.net.URI;
import java.nio.file.FileSystemNotFoundException;
import java.nio.file.FileSystems;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.ProviderNotFoundException;
import java.util.Map;
import java.util.regex.Pattern;

/** Reads {@code ratelimit.audit.archive.location}: a folder, or a URI of any file system that the application brings. */
final class ArchiveLocation {

    static final String PROPERTY = "ratelimit.audit.archive.location";

    /** At least two letters: one is the drive of a path. */
    private static final Pattern URI_SCHEME = Pattern.compile("[A-Za-z][A-Za-z0-9+.-]+:.*");

    private ArchiveLocation() {}

    static Path path(String location) {
        if (location.isBlank()) {
            throw new InvalidPropertyException(PROPERTY, location, "name a folder, such as /var/lib/app/audit");
        }
        try {
            Path path = URI_SCHEME.matcher(location).matches()
                    ? ofUri(URI.create(location))
                    : Path.of(location).toAbsolutePath();
            if (Files.exists(path) && !Files.isDirectory(path)) {
                throw new InvalidPropertyException(PROPERTY, location, "name a folder: this is a file");
            }
            return path;
        } catch (FileSystemNotFoundException | ProviderNotFoundException e) {
            throw new InvalidPropertyException(
                    PROPERTY,
                    location,
                    "add a library with a java.nio.file provider for these URIs, or name a folder (" + e.getMessage()
                            + ")");
        } catch (IOException | IllegalArgumentException e) {
            if (e instanceof InvalidPropertyException known) {
                throw known;
            }
            throw new InvalidPropertyException(
                    PROPERTY, location, "name a folder, or a URI such as s3://bucket/audit (" + e.getMessage() + ")");
        }
    }

    private static Path ofUri(URI uri) throws IOException {
        try {
            return Path.of(uri);
        } catch (FileSystemNotFoundException e) {
            // Stays open as long as the application runs.
            return FileSystems.newFileSystem(uri, Map.of()).provider().getPath(uri);
        }
    }
}
