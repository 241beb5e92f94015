package dev.ratelimit.archive;

import static com.tngtech.archunit.lang.syntax.ArchRuleDefinition.classes;
import static org.assertj.core.api.Assertions.assertThat;

import com.tngtech.archunit.core.domain.JavaClasses;
import com.tngtech.archunit.core.importer.ImportOption;
import com.tngtech.archunit.junit.AnalyzeClasses;
import com.tngtech.archunit.junit.ArchTest;
import com.tngtech.archunit.lang.ArchRule;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;

/** The direction of imports in this module. */
@AnalyzeClasses(packages = "dev.ratelimit.archive", importOptions = ImportOption.DoNotIncludeTests.class)
class ArchitectureTest {

    @ArchTest
    static final ArchRule importsGoInOneDirection = classes()
            .should()
            .onlyDependOnClassesThat()
            .resideInAnyPackage(
                    "dev.ratelimit.archive",
                    "dev.ratelimit.audit.retention",
                    "dev.ratelimit.setting",
                    "dev.ratelimit.support",
                    "com.jerolba.carpet",
                    "org.apache.parquet..",
                    "org.springframework..",
                    "org.slf4j",
                    "org.jspecify.annotations",
                    "java..");

    @ArchTest
    static void architecturePageSaysTheSame(JavaClasses classes) throws IOException {
        assertThat(Files.readString(Path.of("../docs/architecture.md")))
                .contains("`archive` imports `setting` and `audit.retention`");
    }
}
