package dev.ratelimit;

import static com.tngtech.archunit.base.DescribedPredicate.describe;
import static com.tngtech.archunit.core.domain.JavaClass.Predicates.resideInAnyPackage;
import static com.tngtech.archunit.lang.syntax.ArchRuleDefinition.classes;
import static com.tngtech.archunit.lang.syntax.ArchRuleDefinition.codeUnits;
import static com.tngtech.archunit.lang.syntax.ArchRuleDefinition.fields;
import static com.tngtech.archunit.lang.syntax.ArchRuleDefinition.noClasses;
import static com.tngtech.archunit.library.dependencies.SlicesRuleDefinition.slices;
import static java.util.stream.Collectors.toCollection;
import static org.assertj.core.api.Assertions.assertThat;

import com.tngtech.archunit.base.DescribedPredicate;
import com.tngtech.archunit.core.domain.AccessTarget;
import com.tngtech.archunit.core.domain.JavaClass;
import com.tngtech.archunit.core.domain.JavaClasses;
import com.tngtech.archunit.core.importer.ImportOption;
import com.tngtech.archunit.core.importer.Location;
import com.tngtech.archunit.junit.AnalyzeClasses;
import com.tngtech.archunit.junit.ArchTest;
import com.tngtech.archunit.lang.ArchRule;
import com.tngtech.archunit.library.dependencies.SliceAssignment;
import com.tngtech.archunit.library.dependencies.SliceIdentifier;
import dev.ratelimit.support.DaemonThreads;
import dev.ratelimit.support.Listeners;
import dev.ratelimit.support.OncePerMinute;
import dev.ratelimit.support.Turn;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Clock;
import java.time.InstantSource;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.concurrent.TimeUnit;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.jspecify.annotations.NullMarked;

/** Holds the direction of imports, the names and the numbers to what CONTRIBUTING.md says of them. */
@AnalyzeClasses(
        packages = "dev.ratelimit",
        importOptions = {ImportOption.DoNotIncludeTests.class, ArchitectureTest.DoNotIncludeTestServer.class})
class ArchitectureTest {

    /** The module that starts PostgreSQL for tests is no part of what is built here. */
    static final class DoNotIncludeTestServer implements ImportOption {
        @Override
        public boolean includes(Location location) {
            return !location.contains("/dev/ratelimit/testing/");
        }
    }

    private static final String SUPPORT = "dev.ratelimit.support";
    private static final String SETTING = "dev.ratelimit.setting";
    private static final String ROOT = "dev.ratelimit";
    private static final String ALGORITHM = "dev.ratelimit.algorithm";
    private static final String STORE = "dev.ratelimit.store";
    private static final String MOVE = "dev.ratelimit.store.move";
    private static final String JDBC = "dev.ratelimit.store.jdbc";
    private static final String SQLITE = "dev.ratelimit.store.sqlite";
    private static final String POSTGRESQL = "dev.ratelimit.store.postgresql";
    private static final String ADMISSION = "dev.ratelimit.store.postgresql.admission";
    private static final String TRANSACTION = "dev.ratelimit.store.postgresql.transaction";
    private static final String POSTGRESQL_SHARD = "dev.ratelimit.store.postgresql.shard";
    private static final String POSTGRESQL_SWAP = "dev.ratelimit.store.postgresql.swap";
    private static final String SWAP = "dev.ratelimit.store.swap";
    private static final String SHARD = "dev.ratelimit.store.shard";
    private static final String AUDIT = "dev.ratelimit.audit";
    private static final String AUDIT_SQL = "dev.ratelimit.audit.sql";
    private static final String REPORT = "dev.ratelimit.audit.report";
    private static final String RETENTION = "dev.ratelimit.audit.retention";
    private static final String ENGINE = "dev.ratelimit.engine";
    private static final String QUEUE = "dev.ratelimit.engine.queue";
    private static final String LOCAL = "dev.ratelimit.engine.local";
    private static final String LEASE = "dev.ratelimit.engine.lease";
    private static final String MONITOR = "dev.ratelimit.monitor";
    private static final String UPKEEP = "dev.ratelimit.upkeep";
    private static final String SCHEMA = "dev.ratelimit.schema";
    private static final String CALLER = "dev.ratelimit.caller";
    private static final String POLICY = "dev.ratelimit.policy";
    private static final String GATE = "dev.ratelimit.gate";
    private static final String ADMIN = "dev.ratelimit.admin";
    private static final String VERSION = "dev.ratelimit.admin.version";
    private static final String OPERATE = "dev.ratelimit.operate";
    private static final String DATA = "dev.ratelimit.data";
    private static final String TABLE = "dev.ratelimit.data.table";

    private static final String LOGGING = "org.slf4j";

    /** The packages that each package may import beside itself, the helpers, the JDK and the annotations of JSpecify. */
    private static final Map<String, List<String>> MAY_IMPORT = Map.ofEntries(
            Map.entry(SUPPORT, List.of(LOGGING)),
            Map.entry(SETTING, List.of()),
            Map.entry(ROOT, List.of(SETTING)),
            Map.entry(ALGORITHM, List.of(SETTING, ROOT)),
            Map.entry(STORE, List.of(ROOT, ALGORITHM)),
            Map.entry(SHARD, List.of(ROOT, ALGORITHM, STORE, SWAP, LOGGING)),
            Map.entry(MOVE, List.of(ROOT, ALGORITHM, STORE, LOGGING)),
            Map.entry(JDBC, List.of(ROOT, ALGORITHM, STORE)),
            Map.entry(SQLITE, List.of(ROOT, ALGORITHM, STORE, JDBC, LOGGING, "org.sqlite")),
            Map.entry(ADMISSION, List.of(ROOT, ALGORITHM)),
            Map.entry(TRANSACTION, List.of(STORE, LOGGING)),
            Map.entry(POSTGRESQL, List.of(ROOT, ALGORITHM, STORE, JDBC, ADMISSION, TRANSACTION)),
            Map.entry(POSTGRESQL_SHARD, List.of(ALGORITHM, STORE, SHARD, JDBC, POSTGRESQL, TRANSACTION)),
            Map.entry(SWAP, List.of(ROOT, ALGORITHM, STORE, LOGGING)),
            Map.entry(POSTGRESQL_SWAP, List.of(ALGORITHM, STORE, JDBC, POSTGRESQL, TRANSACTION, SWAP)),
            Map.entry(QUEUE, List.of(ROOT, STORE, LOGGING)),
            Map.entry(LOCAL, List.of(ROOT, ALGORITHM, STORE, QUEUE)),
            Map.entry(LEASE, List.of(ROOT, ALGORITHM, STORE, QUEUE, LOGGING)),
            Map.entry(ENGINE, List.of(SETTING, ROOT, ALGORITHM, STORE, QUEUE, LOCAL, LEASE, LOGGING)),
            Map.entry(REPORT, List.of(ROOT)),
            Map.entry(
                    AUDIT_SQL,
                    List.of(
                            "org.springframework.dao",
                            "org.springframework.jdbc..",
                            "org.springframework.transaction..")),
            Map.entry(
                    AUDIT,
                    List.of(
                            SETTING,
                            ROOT,
                            REPORT,
                            AUDIT_SQL,
                            POLICY,
                            GATE,
                            SQLITE,
                            POSTGRESQL,
                            LOGGING,
                            "org.HdrHistogram",
                            "org.postgresql",
                            "org.postgresql.copy",
                            "org.springframework.dao",
                            "org.springframework.jdbc..",
                            "org.springframework.transaction..",
                            "org.springframework.util")),
            Map.entry(
                    RETENTION,
                    List.of(
                            SETTING,
                            AUDIT,
                            AUDIT_SQL,
                            SQLITE,
                            POSTGRESQL,
                            LOGGING,
                            "org.springframework.dao",
                            "org.springframework.jdbc..",
                            "org.springframework.transaction..")),
            Map.entry(UPKEEP, List.of(SETTING, ROOT, STORE, LOGGING)),
            Map.entry(MONITOR, List.of(SETTING, ROOT, ENGINE, LOGGING)),
            Map.entry(SCHEMA, List.of(STORE, JDBC, SQLITE, POSTGRESQL, TRANSACTION)),
            Map.entry(CALLER, List.of(SETTING, ROOT, ALGORITHM)),
            Map.entry(
                    POLICY,
                    List.of(
                            SETTING,
                            ROOT,
                            ALGORITHM,
                            CALLER,
                            "org.springframework.http.server",
                            "org.springframework.web.util",
                            "org.springframework.web.util.pattern")),
            Map.entry(
                    GATE,
                    List.of(
                            SETTING,
                            ROOT,
                            CALLER,
                            POLICY,
                            "org.springframework.http.server",
                            "org.springframework.web.util.pattern")),
            Map.entry(VERSION, List.of(SETTING, ROOT, POLICY)),
            Map.entry(ADMIN, List.of(SETTING, ROOT, ALGORITHM, CALLER, POLICY, GATE, VERSION, LOGGING)),
            Map.entry(
                    OPERATE,
                    List.of(
                            SETTING, ROOT, REPORT, RETENTION, CALLER, POLICY, GATE, ADMIN, VERSION, STORE, SQLITE,
                            LOGGING)),
            Map.entry(TABLE, List.of(SETTING, ROOT, ADMIN, VERSION, CALLER, POLICY, "org.springframework.jdbc..")),
            Map.entry(
                    DATA,
                    List.of(
                            TABLE,
                            SETTING,
                            ROOT,
                            ADMIN,
                            VERSION,
                            CALLER,
                            POLICY,
                            JDBC,
                            SQLITE,
                            POSTGRESQL,
                            LOGGING,
                            "org.postgresql",
                            "org.springframework.core.retry",
                            "org.springframework.dao",
                            "org.springframework.jdbc..",
                            "org.springframework.transaction..")));

    @ArchTest
    static void everyPackageIsToldWhatItMayImport(JavaClasses classes) {
        assertThat(MAY_IMPORT.keySet()).as("packages of MAY_IMPORT").containsAll(packageNames(classes));
    }

    @ArchTest
    static void importsGoInOneDirection(JavaClasses classes) {
        for (String name : packageNames(classes)) {
            List<String> allowed =
                    new ArrayList<>(List.of(name, SUPPORT, "java..", "javax.sql", "org.jspecify.annotations"));
            allowed.addAll(MAY_IMPORT.getOrDefault(name, List.of()));
            classes()
                    .that()
                    .resideInAPackage(name)
                    .should()
                    .onlyDependOnClassesThat()
                    .resideInAnyPackage(allowed.toArray(String[]::new))
                    .check(classes);
        }
    }

    /** The table of this module in docs/architecture.md lists the same imports. */
    @ArchTest
    static void architecturePageListsTheSameImports(JavaClasses classes) throws IOException {
        String page = Files.readString(Path.of("../docs/architecture.md"));
        String table = page.substring(
                page.indexOf("\n`ratelimit-core`, as"), page.indexOf("\n`ratelimit-spring-boot-autoconfigure`, as"));
        Map<String, Set<String>> written = new TreeMap<>();
        Pattern.compile("(?m)^\\| `([a-z.]+)` \\|([^|]*)\\|")
                .matcher(table)
                .results()
                .forEach(row -> written.put(packageName(row.group(1)), packages(row.group(2))));

        Map<String, Set<String>> enforced = new TreeMap<>();
        MAY_IMPORT.forEach((name, others) -> enforced.put(
                name, others.stream().filter(other -> other.startsWith(ROOT)).collect(toCollection(TreeSet::new))));
        assertThat(written).as("the table of docs/architecture.md").isEqualTo(enforced);
    }

    private static Set<String> packages(String cell) {
        return Stream.of(cell.replace("`", "").split(","))
                .map(String::strip)
                .filter(name -> !name.isEmpty())
                .map(name -> name.equals("root") ? ROOT : packageName(name))
                .collect(toCollection(TreeSet::new));
    }

    private static String packageName(String written) {
        return written.startsWith(ROOT) ? written : ROOT + "." + written;
    }

    @ArchTest
    static final ArchRule noPackagesFormACycle = slices().assignedFrom(new SliceAssignment() {
                @Override
                public SliceIdentifier getIdentifierOf(JavaClass type) {
                    return type.getPackageName().startsWith(ROOT)
                            ? SliceIdentifier.of(type.getPackageName())
                            : SliceIdentifier.ignore();
                }

                @Override
                public String getDescription() {
                    return "packages";
                }
            })
            .should()
            .beFreeOfCycles();

    /** An algorithm is added in its own class and in the list: nobody else tells them apart. */
    @ArchTest
    static final ArchRule nobodyTellsAlgorithmsApart = noClasses()
            .that()
            .resideOutsideOfPackage(ALGORITHM)
            .and()
            .haveSimpleNameNotEndingWith("Fragment")
            .should()
            .dependOnClassesThat(describe(
                    "are algorithms",
                    type -> type.isAssignableTo("dev.ratelimit.algorithm.CountingAlgorithm")
                            && !type.getSimpleName().equals("CountingAlgorithm")));

    @ArchTest
    static final ArchRule onlyStoresSchemaDataAndAuditSpeakSql = noClasses()
            .that()
            .resideOutsideOfPackages(
                    JDBC,
                    SQLITE,
                    POSTGRESQL,
                    TRANSACTION,
                    POSTGRESQL_SHARD,
                    POSTGRESQL_SWAP,
                    SCHEMA,
                    DATA,
                    TABLE,
                    AUDIT,
                    AUDIT_SQL,
                    RETENTION)
            .should()
            .dependOnClassesThat()
            .resideInAnyPackage("java.sql", "javax.sql");

    @ArchTest
    static void everyPackageIsNullMarked(JavaClasses classes) {
        assertThat(packageNames(classes))
                .as("packages with a package-info that is @NullMarked")
                .isNotEmpty()
                .allMatch(name -> classes.getPackage(name).isAnnotatedWith(NullMarked.class));
    }

    @ArchTest
    static final ArchRule namesSayWhatAThingIs = noClasses()
            .should()
            .haveSimpleNameEndingWith("Impl")
            .orShould()
            .haveSimpleNameEndingWith("Utils")
            .orShould()
            .haveSimpleNameEndingWith("Util")
            .orShould()
            .haveSimpleNameEndingWith("Helper")
            .orShould()
            .haveSimpleNameEndingWith("Manager");

    @ArchTest
    static final ArchRule fieldsAreWhole =
            fields().that().areDeclaredInClassesThat(whereStateIs()).should().notHaveRawType(isFloating());

    @ArchTest
    static final ArchRule arithmeticIsWhole = codeUnits()
            .that()
            .areDeclaredInClassesThat(whereStateIs())
            .should()
            .notHaveRawReturnType(isFloating())
            .andShould()
            .notHaveRawParameterTypes(anyIsFloating());

    @ArchTest
    static final ArchRule nothingFloatingIsCalled = noClasses()
            .that(whereStateIs())
            .should()
            .callCodeUnitWhere(describe(
                    "takes or gives a floating-point number",
                    call -> isFloating().test(call.getTarget().getRawReturnType())
                            || anyIsFloating().test(call.getTarget().getRawParameterTypes())));

    @ArchTest
    static final ArchRule storesAndArithmeticDoNotSleep = noClasses()
            .that(whereStateIs())
            .should()
            .accessTargetWhere(describe("sleeps", access -> sleeps(access.getTarget())));

    private static boolean sleeps(AccessTarget target) {
        JavaClass owner = target.getOwner();
        return (owner.isEquivalentTo(Thread.class) || owner.isEquivalentTo(TimeUnit.class))
                && target.getName().equals("sleep");
    }

    /** State and arithmetic read the clock that they were given, not that of the machine. */
    @ArchTest
    static final ArchRule storesAndArithmeticAreGivenTheTime = noClasses()
            .that(whereStateIs())
            .should()
            .accessTargetWhere(describe("reads the clock of the machine", access -> readsTheClock(access.getTarget())));

    /** Only these measure how long they wait: for a swap, and for several shards. */
    @ArchTest
    static final ArchRule storesAndArithmeticMeasureNothing = noClasses()
            .that(whereStateIs())
            .and()
            .resideOutsideOfPackages(SWAP, SHARD)
            .should()
            .accessTargetWhere(describe("measures time", access -> measuresTime(access.getTarget())));

    private static boolean readsTheClock(AccessTarget target) {
        JavaClass owner = target.getOwner();
        boolean ofSystem =
                owner.isEquivalentTo(System.class) && target.getName().equals("currentTimeMillis");
        boolean ofTime = owner.getPackageName().equals("java.time")
                && target.getName().equals("now")
                && !owner.isAssignableTo(InstantSource.class);
        return ofSystem || ofTime || owner.isEquivalentTo(Clock.class);
    }

    private static boolean measuresTime(AccessTarget target) {
        return target.getOwner().isEquivalentTo(System.class)
                && target.getName().equals("nanoTime");
    }

    private static DescribedPredicate<JavaClass> whereStateIs() {
        return resideInAnyPackage(
                ALGORITHM,
                STORE,
                MOVE,
                JDBC,
                SQLITE,
                POSTGRESQL,
                ADMISSION,
                TRANSACTION,
                POSTGRESQL_SHARD,
                POSTGRESQL_SWAP,
                SWAP,
                SHARD);
    }

    /** The walk of a request has no effect: no file, no network, no log line, no thread, and it asks no limiter. */
    @ArchTest
    static final ArchRule walkDoesNoInputOrOutput = noClasses()
            .that(areOfTheWalk())
            .should()
            .dependOnClassesThat(resideInAnyPackage(
                            "java.io..",
                            "java.net..",
                            "java.nio.channels..",
                            "java.nio.file..",
                            "java.util.logging..",
                            LOGGING + "..")
                    .or(describe(
                            "log, wait, start threads or decide",
                            type -> Set.of(
                                            RateLimiter.class,
                                            DaemonThreads.class,
                                            Listeners.class,
                                            OncePerMinute.class,
                                            Turn.class,
                                            Thread.class)
                                    .stream()
                                    .anyMatch(type::isEquivalentTo))));

    /** It takes the time from the clock that it was given, and tells its adapter to wait. */
    @ArchTest
    static final ArchRule walkIsGivenTheTimeAndNeverWaits = noClasses()
            .that(areOfTheWalk())
            .should()
            .accessTargetWhere(describe("reads the clock of the machine, or waits", access -> {
                AccessTarget target = access.getTarget();
                boolean ofMachine = target.getOwner().isEquivalentTo(InstantSource.class)
                        && target.getName().equals("system");
                boolean awaits = target.getOwner().isEquivalentTo(Decision.class)
                        && target.getName().equals("awaitTurn");
                return readsTheClock(target) || measuresTime(target) || sleeps(target) || ofMachine || awaits;
            }));

    private static DescribedPredicate<JavaClass> areOfTheWalk() {
        return resideInAnyPackage(CALLER, POLICY, GATE);
    }

    private static DescribedPredicate<JavaClass> isFloating() {
        Set<String> names = Set.of("double", "float", "java.lang.Double", "java.lang.Float");
        return describe(
                "floating point",
                type -> names.contains(type.getBaseComponentType().getName()));
    }

    private static DescribedPredicate<List<JavaClass>> anyIsFloating() {
        return describe("with floating point", types -> types.stream().anyMatch(isFloating()));
    }

    private static Set<String> packageNames(JavaClasses classes) {
        return classes.stream().map(JavaClass::getPackageName).collect(toCollection(TreeSet::new));
    }
}
