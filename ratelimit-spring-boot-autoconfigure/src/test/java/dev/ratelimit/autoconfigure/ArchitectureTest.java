package dev.ratelimit.autoconfigure;

import static com.tngtech.archunit.lang.syntax.ArchRuleDefinition.classes;
import static com.tngtech.archunit.lang.syntax.ArchRuleDefinition.noClasses;

import com.tngtech.archunit.core.importer.ImportOption;
import com.tngtech.archunit.junit.AnalyzeClasses;
import com.tngtech.archunit.junit.ArchTest;
import com.tngtech.archunit.lang.ArchRule;

/** The direction of imports in this module. */
@AnalyzeClasses(packages = "dev.ratelimit", importOptions = ImportOption.DoNotIncludeTests.class)
class ArchitectureTest {

    @ArchTest
    static final ArchRule webAndAnnotationNeverSeeAStore = noClasses()
            .that()
            .resideInAnyPackage("dev.ratelimit.web", "dev.ratelimit.annotation", "dev.ratelimit.metrics")
            .should()
            .dependOnClassesThat()
            .resideInAnyPackage(
                    "dev.ratelimit.store..",
                    "dev.ratelimit.engine",
                    "dev.ratelimit.algorithm",
                    "dev.ratelimit.schema",
                    "java.sql",
                    "javax.sql");

    @ArchTest
    static final ArchRule webDoesNotSeeTheAnnotation = noClasses()
            .that()
            .resideInAPackage("dev.ratelimit.web")
            .should()
            .dependOnClassesThat()
            .resideInAnyPackage("dev.ratelimit.annotation", "dev.ratelimit.metrics");

    @ArchTest
    static final ArchRule nothingImportsTheWiring = noClasses()
            .that()
            .resideOutsideOfPackage("dev.ratelimit.autoconfigure")
            .should()
            .dependOnClassesThat()
            .resideInAPackage("dev.ratelimit.autoconfigure");

    @ArchTest
    static final ArchRule wiringIsNotPublicButForItsEntries = classes()
            .that()
            .resideInAPackage("dev.ratelimit.autoconfigure")
            .and()
            .areTopLevelClasses()
            .and()
            .haveSimpleNameNotEndingWith("AutoConfiguration")
            .and()
            .doNotHaveSimpleName("package-info")
            .should()
            .bePackagePrivate();
}
