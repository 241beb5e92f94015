package dev.ratelimit.autoconfigure;

import static com.tngtech.archunit.base.DescribedPredicate.describe;
import static com.tngtech.archunit.lang.syntax.ArchRuleDefinition.classes;
import static com.tngtech.archunit.lang.syntax.ArchRuleDefinition.noClasses;
import static java.util.stream.Collectors.joining;
import static org.assertj.core.api.Assertions.assertThat;

import com.tngtech.archunit.core.domain.JavaClass;
import com.tngtech.archunit.core.domain.JavaClasses;
import com.tngtech.archunit.core.importer.ImportOption;
import com.tngtech.archunit.junit.AnalyzeClasses;
import com.tngtech.archunit.junit.ArchTest;
import com.tngtech.archunit.lang.ArchRule;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import java.util.stream.Collectors;
import org.springframework.boot.context.properties.EnableConfigurationProperties;

/** The direction of imports in this module. */
@AnalyzeClasses(packages = "dev.ratelimit", importOptions = ImportOption.DoNotIncludeTests.class)
class ArchitectureTest {

    @ArchTest
    static final ArchRule webAndAnnotationNeverSeeAStore = noClasses()
            .that()
            .resideInAnyPackage("dev.ratelimit.web..", "dev.ratelimit.annotation..")
            .should()
            .dependOnClassesThat()
            .resideInAnyPackage(
                    "dev.ratelimit.store..",
                    "dev.ratelimit.engine",
                    "dev.ratelimit.algorithm",
                    "dev.ratelimit.schema",
                    "java.sql",
                    "javax.sql");

    /** The packages of this project that each package may import beside itself. */
    private static final Map<String, List<String>> MAY_IMPORT = Map.ofEntries(
            Map.entry(
                    "dev.ratelimit.web",
                    List.of("dev.ratelimit.setting", "dev.ratelimit", "dev.ratelimit.policy", "dev.ratelimit.gate")),
            Map.entry("dev.ratelimit.web.expression", List.of()),
            Map.entry(
                    "dev.ratelimit.web.servlet",
                    List.of("dev.ratelimit", "dev.ratelimit.caller", "dev.ratelimit.gate", "dev.ratelimit.web")),
            Map.entry(
                    "dev.ratelimit.web.servlet.filter",
                    List.of(
                            "dev.ratelimit",
                            "dev.ratelimit.caller",
                            "dev.ratelimit.policy",
                            "dev.ratelimit.gate",
                            "dev.ratelimit.web",
                            "dev.ratelimit.web.expression",
                            "dev.ratelimit.web.servlet")),
            Map.entry("dev.ratelimit.annotation", List.of("dev.ratelimit.setting", "dev.ratelimit")),
            Map.entry(
                    "dev.ratelimit.annotation.interceptor",
                    List.of(
                            "dev.ratelimit.setting",
                            "dev.ratelimit",
                            "dev.ratelimit.policy",
                            "dev.ratelimit.web",
                            "dev.ratelimit.web.expression",
                            "dev.ratelimit.annotation")),
            Map.entry(
                    "dev.ratelimit.login.check",
                    List.of(
                            "dev.ratelimit",
                            "dev.ratelimit.algorithm",
                            "dev.ratelimit.gate",
                            "dev.ratelimit.web",
                            "dev.ratelimit.web.servlet.filter",
                            "dev.ratelimit.login")),
            Map.entry("dev.ratelimit.login", List.of("dev.ratelimit")),
            Map.entry(
                    "dev.ratelimit.metrics",
                    List.of(
                            "dev.ratelimit",
                            "dev.ratelimit.audit",
                            "dev.ratelimit.audit.report",
                            "dev.ratelimit.engine",
                            "dev.ratelimit.monitor",
                            "dev.ratelimit.connection")),
            Map.entry("dev.ratelimit.event", List.of("dev.ratelimit")),
            Map.entry(
                    "dev.ratelimit.event.publisher",
                    List.of(
                            "dev.ratelimit",
                            "dev.ratelimit.event",
                            "dev.ratelimit.engine",
                            "dev.ratelimit.caller",
                            "dev.ratelimit.admin.version",
                            "dev.ratelimit.operate",
                            "dev.ratelimit.data")),
            Map.entry("dev.ratelimit.health", List.of("dev.ratelimit.engine", "dev.ratelimit.upkeep")),
            Map.entry(
                    "dev.ratelimit.actuate",
                    List.of(
                            "dev.ratelimit.setting",
                            "dev.ratelimit.admin",
                            "dev.ratelimit.admin.version",
                            "dev.ratelimit.audit.report",
                            "dev.ratelimit.engine",
                            "dev.ratelimit.monitor",
                            "dev.ratelimit.operate",
                            "dev.ratelimit.upkeep")),
            Map.entry(
                    "dev.ratelimit.connection",
                    List.of(
                            "dev.ratelimit.store",
                            "dev.ratelimit.store.shard",
                            "dev.ratelimit.store.jdbc",
                            "dev.ratelimit.store.move")),
            Map.entry(
                    "dev.ratelimit.database",
                    List.of(
                            "dev.ratelimit.setting",
                            "dev.ratelimit.store",
                            "dev.ratelimit.store.shard",
                            "dev.ratelimit.store.jdbc",
                            "dev.ratelimit.store.move",
                            "dev.ratelimit.store.sqlite",
                            "dev.ratelimit.store.postgresql",
                            "dev.ratelimit.store.postgresql.shard",
                            "dev.ratelimit.store.postgresql.swap",
                            "dev.ratelimit.schema",
                            "dev.ratelimit.audit",
                            "dev.ratelimit.audit.retention",
                            "dev.ratelimit.data",
                            "dev.ratelimit.connection")),
            Map.entry(
                    "dev.ratelimit.startup",
                    List.of(
                            "dev.ratelimit.setting",
                            "dev.ratelimit",
                            "dev.ratelimit.engine",
                            "dev.ratelimit.caller",
                            "dev.ratelimit.policy",
                            "dev.ratelimit.store",
                            "dev.ratelimit.store.jdbc",
                            "dev.ratelimit.store.shard",
                            "dev.ratelimit.schema",
                            "dev.ratelimit.annotation",
                            "dev.ratelimit.annotation.interceptor",
                            "dev.ratelimit.login.check",
                            "dev.ratelimit.connection")),
            Map.entry(
                    "dev.ratelimit.autoconfigure.property",
                    List.of(
                            "dev.ratelimit.setting",
                            "dev.ratelimit",
                            "dev.ratelimit.caller",
                            "dev.ratelimit.policy",
                            "dev.ratelimit.gate",
                            "dev.ratelimit.audit",
                            "dev.ratelimit.audit.report",
                            "dev.ratelimit.audit.retention",
                            "dev.ratelimit.monitor",
                            "dev.ratelimit.web",
                            "dev.ratelimit.database",
                            "dev.ratelimit.startup")));

    @ArchTest
    static void everyPackageIsToldWhatItMayImport(JavaClasses classes) {
        Set<String> ours = classes.stream()
                .filter(type -> type.getSource()
                        .map(source -> source.getUri().getPath())
                        .filter(path -> path != null && path.contains("ratelimit-spring-boot-autoconfigure/"))
                        .isPresent())
                .map(JavaClass::getPackageName)
                .filter(name -> !name.equals("dev.ratelimit.autoconfigure"))
                .collect(Collectors.toCollection(TreeSet::new));
        assertThat(ours).as("packages of this module").containsExactlyInAnyOrderElementsOf(MAY_IMPORT.keySet());
    }

    @ArchTest
    static void importsGoInOneDirection(JavaClasses classes) {
        MAY_IMPORT.forEach((name, others) -> {
            List<String> ours = new ArrayList<>(others);
            ours.add(name);
            ours.add("dev.ratelimit.support");
            noClasses()
                    .that()
                    .resideInAPackage(name)
                    .should()
                    .dependOnClassesThat(describe(
                            "are of this project, and in none of " + ours,
                            type -> type.getPackageName().startsWith("dev.ratelimit")
                                    && !ours.contains(type.getPackageName())))
                    .check(classes);
        });
    }

    /** The table of this module in docs/architecture.md lists the same imports. */
    @ArchTest
    static void architecturePageListsTheSameImports(JavaClasses classes) throws IOException {
        String page = Files.readString(Path.of("../docs/architecture.md"));
        String table = page.substring(page.indexOf("\n`ratelimit-spring-boot-autoconfigure`, as"));

        MAY_IMPORT.forEach((name, others) -> {
            String imports = others.stream()
                    .map(other -> other.equals("dev.ratelimit") ? "root" : "`" + withoutRoot(other) + "`")
                    .collect(joining(", "));
            assertThat(table).contains("\n| `" + withoutRoot(name) + "` | " + imports + " |\n");
        });
    }

    private static String withoutRoot(String name) {
        return name.substring("dev.ratelimit.".length());
    }

    @ArchTest
    static final ArchRule onlyServletAdaptersKnowTheServletApi = noClasses()
            .that()
            .resideInAnyPackage(
                    "dev.ratelimit.web",
                    "dev.ratelimit.web.expression",
                    "dev.ratelimit.annotation..",
                    "dev.ratelimit.metrics")
            .should()
            .dependOnClassesThat()
            .resideInAPackage("jakarta.servlet..");

    @ArchTest
    static final ArchRule nothingImportsTheWiring = noClasses()
            .that()
            .resideOutsideOfPackages("dev.ratelimit.autoconfigure..")
            .should()
            .dependOnClassesThat()
            .resideInAPackage("dev.ratelimit.autoconfigure..");

    /** Javadoc of JDK 17 fails if an annotation of a class that it shows names a class of an excluded package. */
    @ArchTest
    static final ArchRule publicWiringDoesNotNameThePropertiesItself = noClasses()
            .that()
            .resideInAPackage("dev.ratelimit.autoconfigure")
            .and()
            .arePublic()
            .should()
            .beAnnotatedWith(EnableConfigurationProperties.class);

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
            .and()
            .areNotAnnotations()
            .should()
            .bePackagePrivate();
}
