package dev.ratelimit.build;

import static dev.ratelimit.build.BuildFiles.ROOT;
import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Runs {@code .ci/run} where every program that it calls only writes down how it was called. */
class BuildScriptTest {
    private static final Path BASH = Path.of("/bin/bash");

    @TempDir
    private Path folder;

    @BeforeEach
    void programs() throws IOException {
        assumeTrue(Files.isExecutable(BASH), BASH + " is not installed");
        program("dirname", "echo \"${1%/*}\"");
        program("env", "while [[ $1 == *=* ]]; do shift; done; \"$@\"");
        program("apt-get", "echo \"apt-get ${*: -1}\" >> " + calls());
        program("mvn", "echo \"mvn $*\" >> " + calls());
    }

    private Path calls() {
        return folder.resolve("calls.txt");
    }

    private void program(String name, String body) throws IOException {
        Path file = Files.writeString(folder.resolve(name), "#!" + BASH + "\n" + body + "\n");
        Files.setPosixFilePermissions(file, PosixFilePermissions.fromString("rwxr-xr-x"));
    }

    private List<String> run(String user) throws Exception {
        program("id", "echo " + user);
        ProcessBuilder builder = new ProcessBuilder(
                        BASH.toString(), ROOT.resolve(".ci/run").toString(), "-Pboot-4.0")
                .redirectErrorStream(true)
                .redirectOutput(folder.resolve("output.txt").toFile());
        builder.environment().put("PATH", folder.toString());
        Process process = builder.start();
        assertThat(process.waitFor(1, TimeUnit.MINUTES)).isTrue();
        assertThat(process.exitValue())
                .as(Files.readString(folder.resolve("output.txt")))
                .isZero();
        return Files.readAllLines(calls());
    }

    @Test
    void rootInstallsWhatTestsNeed() throws Exception {
        assertThat(run("0"))
                .startsWith("apt-get update")
                .containsOnlyOnce("apt-get update")
                .contains("apt-get chromium", "apt-get chromium-driver", "apt-get sqlite3", "apt-get postgresql-client")
                .endsWith("mvn -B -ntp -Dsurefire.rerunFailingTestsCount=1 verify -Pboot-4.0");
    }

    /** As on the runners of GitHub. */
    @Test
    void anotherUserInstallsItBySudo() throws Exception {
        program("sudo", "echo \"sudo $1\" >> " + calls() + "; shift; \"$@\"");

        assertThat(run("1001"))
                .startsWith("sudo -n", "apt-get update", "sudo -n", "apt-get chromium")
                .endsWith("mvn -B -ntp -Dsurefire.rerunFailingTestsCount=1 verify -Pboot-4.0");
    }

    @Test
    void withoutTheRightToInstallTheBuildRuns() throws Exception {
        assertThat(run("1001")).containsExactly("mvn -B -ntp -Dsurefire.rerunFailingTestsCount=1 verify -Pboot-4.0");
        assertThat(folder.resolve("output.txt"))
                .content()
                .contains("The package sqlite3 is missing and could not be installed: some tests are skipped");
    }
}
