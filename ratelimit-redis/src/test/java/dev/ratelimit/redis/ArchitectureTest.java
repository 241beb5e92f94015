package dev.ratelimit.redis;

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
@AnalyzeClasses(
        packages = {"dev.ratelimit.redis", "dev.ratelimit.store.redis"},
        importOptions = ImportOption.DoNotIncludeTests.class)
class ArchitectureTest {

    /** The store can be used without Spring. */
    @ArchTest
    static final ArchRule storeKnowsRedisOnly = classes()
            .that()
            .resideInAPackage("dev.ratelimit.store.redis")
            .should()
            .onlyDependOnClassesThat()
            .resideInAnyPackage(
                    "dev.ratelimit",
                    "dev.ratelimit.algorithm",
                    "dev.ratelimit.store",
                    "dev.ratelimit.store.redis",
                    "dev.ratelimit.store.swap",
                    "dev.ratelimit.support",
                    "io.lettuce.core..",
                    "io.netty.buffer",
                    "org.slf4j",
                    "org.jspecify.annotations",
                    "java..");

    @ArchTest
    static final ArchRule wiringKnowsItsNeighboursOnly = classes()
            .that()
            .resideInAPackage("dev.ratelimit.redis")
            .should()
            .onlyDependOnClassesThat()
            .resideInAnyPackage(
                    "dev.ratelimit.redis",
                    "dev.ratelimit.database",
                    "dev.ratelimit.setting",
                    "dev.ratelimit.store",
                    "dev.ratelimit.store.redis",
                    "dev.ratelimit.support",
                    "io.lettuce.core..",
                    "org.springframework..",
                    "org.slf4j",
                    "org.jspecify.annotations",
                    "java..",
                    "javax.net.ssl");

    @ArchTest
    static void architecturePageSaysTheSame(JavaClasses classes) throws IOException {
        assertThat(Files.readString(Path.of("../docs/architecture.md")))
                .contains("`store.redis` imports root, `algorithm`, `store` and `store.swap`")
                .contains("`redis` imports `setting`, `store`, `store.redis` and `database`");
    }
}
