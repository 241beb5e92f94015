// Keep modules and dependencies in step with the Maven build; BuildsInStepTest compares the two.
// Only plugins of the Gradle distribution, and only what Gradle 8.0 and 9 both understand.

val springBootVersion by extra(providers.gradleProperty("springBootVersion").getOrElse("4.1.1"))
val publishedModules = setOf("ratelimit-core", "ratelimit-spring-boot-autoconfigure", "ratelimit-spring-boot-starter", "ratelimit-test", "ratelimit-archive", "ratelimit-redis", "ratelimit-dashboard")

subprojects {
    group = "dev.ratelimit"
    version = "0.1.0-SNAPSHOT"

    val published = name in publishedModules
    val moduleName = "dev.ratelimit." + name.removePrefix("ratelimit-").replace('-', '.')

    pluginManager.withPlugin("java") {
        dependencies {
            "implementation"(platform("org.springframework.boot:spring-boot-dependencies:$springBootVersion"))
            "testRuntimeOnly"("org.junit.platform:junit-platform-launcher")
        }
    }

    pluginManager.withPlugin("java-library") {
        if (published) {
            configure<JavaPluginExtension> {
                withSourcesJar()
                withJavadocJar()
            }
        }
    }

    val nativeAccess = if (JavaVersion.current().majorVersion.toInt() >= 24) {
        listOf("--enable-native-access=ALL-UNNAMED")
    } else {
        emptyList<String>()
    }

    tasks.withType<JavaCompile>().configureEach {
        options.release.set(17)
        options.encoding = "UTF-8"
        options.compilerArgs.add("-parameters")
    }

    tasks.withType<Test>().configureEach {
        useJUnitPlatform()
        maxHeapSize = "1g"
        // Tests block threads of the common pool. JDK 25 has only one there on two processors.
        systemProperty("java.util.concurrent.ForkJoinPool.common.parallelism", 16)
        jvmArgs(nativeAccess)
    }

    tasks.withType<JavaExec>().configureEach {
        jvmArgs(nativeAccess)
    }

    tasks.withType<Javadoc>().configureEach {
        // Internal: <internal.packages> in pom.xml lists the same.
        exclude("dev/ratelimit/support/**")
        exclude("dev/ratelimit/store/shard/**")
        exclude("dev/ratelimit/store/jdbc/**")
        exclude("dev/ratelimit/store/postgresql/shard/**")
        exclude("dev/ratelimit/store/postgresql/admission/**")
        exclude("dev/ratelimit/store/postgresql/transaction/**")
        exclude("dev/ratelimit/store/swap/**")
        exclude("dev/ratelimit/store/move/**")
        exclude("dev/ratelimit/audit/sql/**")
        exclude("dev/ratelimit/engine/queue/**")
        exclude("dev/ratelimit/engine/local/**")
        exclude("dev/ratelimit/engine/lease/**")
        exclude("dev/ratelimit/annotation/interceptor/**")
        exclude("dev/ratelimit/web/expression/**")
        exclude("dev/ratelimit/web/servlet/filter/**")
        exclude("dev/ratelimit/login/check/**")
        exclude("dev/ratelimit/connection/**")
        exclude("dev/ratelimit/database/**")
        exclude("dev/ratelimit/event/publisher/**")
        exclude("dev/ratelimit/startup/**")
        exclude("dev/ratelimit/data/table/**")
        exclude("dev/ratelimit/autoconfigure/property/**")
        exclude("dev/ratelimit/redis/**")
        exclude("dev/ratelimit/metrics/**")
        exclude("dev/ratelimit/health/**")
        exclude("dev/ratelimit/actuate/**")
        (options as StandardJavadocDocletOptions).apply {
            encoding = "UTF-8"
            addBooleanOption("Xdoclint:all,-missing", true)
            addBooleanOption("Werror", true)
        }
    }

    tasks.withType<Jar>().configureEach {
        metaInf {
            from(rootProject.file("LICENSE"))
        }
        if (published) {
            manifest {
                attributes("Automatic-Module-Name" to moduleName)
            }
        }
    }

    // The same bytes from every build of the same sources.
    tasks.withType<AbstractArchiveTask>().configureEach {
        isPreserveFileTimestamps = false
        isReproducibleFileOrder = true
    }
}
