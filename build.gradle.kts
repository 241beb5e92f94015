// Keep modules and dependencies in step with the Maven build; BuildsInStepTest compares the two.
// Only plugins of the Gradle distribution, and only what Gradle 8.0 and 9 both understand.

val springBootVersion = "4.1.1"

subprojects {
    group = "dev.ratelimit"
    version = "0.1.0-SNAPSHOT"

    pluginManager.withPlugin("java") {
        dependencies {
            "implementation"(platform("org.springframework.boot:spring-boot-dependencies:$springBootVersion"))
            "testRuntimeOnly"("org.junit.platform:junit-platform-launcher")
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
        jvmArgs(nativeAccess)
    }

    tasks.withType<JavaExec>().configureEach {
        jvmArgs(nativeAccess)
    }

    tasks.withType<Jar>().configureEach {
        metaInf {
            from(rootProject.file("LICENSE"))
        }
    }
}
