package dev.ratelimit.dashboard;

import static com.tngtech.archunit.base.DescribedPredicate.describe;
import static com.tngtech.archunit.lang.syntax.ArchRuleDefinition.noClasses;
import static java.util.stream.Collectors.joining;
import static org.assertj.core.api.Assertions.assertThat;

import com.tngtech.archunit.core.domain.JavaClasses;
import com.tngtech.archunit.core.importer.ImportOption;
import com.tngtech.archunit.junit.AnalyzeClasses;
import com.tngtech.archunit.junit.ArchTest;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;

/** The direction of imports in this module. */
@AnalyzeClasses(packages = "dev.ratelimit.dashboard", importOptions = ImportOption.DoNotIncludeTests.class)
class ArchitectureTest {

    private static final String ROOT = "dev.ratelimit";

    /** The packages of this project that the dashboard may import; the root is empty. */
    private static final List<String> MAY_IMPORT = List.of(
            "",
            "admin",
            "algorithm",
            "audit.report",
            "engine",
            "gate",
            "operate",
            "policy",
            "setting",
            "store",
            "web",
            "web.servlet",
            "web.servlet.filter");

    @ArchTest
    static void importsGoInOneDirection(JavaClasses classes) {
        noClasses()
                .should()
                .dependOnClassesThat(describe("are of this project, and in none of " + MAY_IMPORT, type -> {
                    String owner = type.getPackageName();
                    return owner.startsWith(ROOT)
                            && !owner.equals(ROOT + ".dashboard")
                            && !owner.equals(ROOT + ".support")
                            && MAY_IMPORT.stream().noneMatch(other -> owner.equals(full(other)));
                }))
                .check(classes);
    }

    private static String full(String other) {
        return other.isEmpty() ? ROOT : ROOT + "." + other;
    }

    /** The table of this module in docs/architecture.md lists the same imports. */
    @ArchTest
    static void architecturePageListsTheSameImports(JavaClasses classes) throws IOException {
        String page = Files.readString(Path.of("../docs/architecture.md"));
        String table = page.substring(page.indexOf("\n`ratelimit-dashboard`, as"));

        assertThat(table)
                .contains("\n| `dashboard` | "
                        + MAY_IMPORT.stream()
                                .map(other -> other.isEmpty() ? "root" : "`" + other + "`")
                                .collect(joining(", "))
                        + " |\n");
    }
}
