package dev.ratelimit.build;

import static dev.ratelimit.build.BuildFiles.ROOT;
import static dev.ratelimit.build.BuildFiles.read;
import static org.assertj.core.api.Assertions.assertThat;

import java.util.List;
import org.junit.jupiter.api.Test;

/** The jars that readers of the documents start. */
class ExecutableJarsTest {

    /** Otherwise the first lines that a newcomer sees on a JDK from 24 on are four warnings. */
    @Test
    void everyExecutableJarMayLoadTheLibraryOfSqlite() {
        List<String> executable = BuildFiles.modules().stream()
                .filter(module -> pom(module).contains("<goal>repackage</goal>"))
                .toList();

        assertThat(executable)
                .contains("sample-app", "examples/basic", "examples/login")
                .allSatisfy(module ->
                        assertThat(pom(module)).contains("<Enable-Native-Access>ALL-UNNAMED</Enable-Native-Access>"));
    }

    private static String pom(String module) {
        return read(ROOT.resolve(module).resolve("pom.xml"));
    }
}
