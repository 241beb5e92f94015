package dev.ratelimit.test;

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
import java.util.Map;

/** The direction of imports in this module. */
@AnalyzeClasses(packages = "dev.ratelimit.test", importOptions = ImportOption.DoNotIncludeTests.class)
class ArchitectureTest {

    private static final String ROOT = "dev.ratelimit";

    /** The packages of this project that each package may import beside itself; the root is empty. */
    private static final Map<String, List<String>> MAY_IMPORT = Map.of(
            "test",
                    List.of(
                            "setting",
                            "",
                            "admin",
                            "annotation",
                            "caller",
                            "engine",
                            "gate",
                            "policy",
                            "store",
                            "store.sqlite",
                            "login.check",
                            "web"),
            "test.assertion", List.of("setting"),
            "test.store", List.of("", "algorithm", "engine", "store", "test", "upkeep"));

    @ArchTest
    static void importsGoInOneDirection(JavaClasses classes) {
        MAY_IMPORT.forEach((name, others) -> noClasses()
                .that()
                .resideInAPackage(ROOT + "." + name)
                .should()
                .dependOnClassesThat(describe("are of this project, and in none of " + others, type -> {
                    String owner = type.getPackageName();
                    return owner.startsWith(ROOT)
                            && !owner.equals(ROOT + "." + name)
                            && !owner.equals(ROOT + ".support")
                            && others.stream().noneMatch(other -> owner.equals(full(other)));
                }))
                .check(classes));
    }

    private static String full(String other) {
        return other.isEmpty() ? ROOT : ROOT + "." + other;
    }

    /** The table of this module in docs/architecture.md lists the same imports. */
    @ArchTest
    static void architecturePageListsTheSameImports(JavaClasses classes) throws IOException {
        String page = Files.readString(Path.of("../docs/architecture.md"));
        String table = page.substring(page.indexOf("\n`ratelimit-test`, as"));

        MAY_IMPORT.forEach((name, others) -> assertThat(table)
                .contains("\n| `" + name + "` | "
                        + others.stream()
                                .map(other -> other.isEmpty() ? "root" : "`" + other + "`")
                                .collect(joining(", "))
                        + " |\n"));
    }
}
