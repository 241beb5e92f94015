plugins {
    `java-library`
}

dependencies {
    api("org.jspecify:jspecify")
    implementation("org.slf4j:slf4j-api")
    implementation("org.hdrhistogram:HdrHistogram:2.2.2")

    compileOnly("org.checkerframework:checker-qual:3.55.1")
    compileOnly("org.postgresql:postgresql")
    compileOnly("org.springframework:spring-jdbc")
    compileOnly("org.springframework:spring-tx")
    compileOnly("org.springframework:spring-web")
    compileOnly("org.xerial:sqlite-jdbc")

    testImplementation("org.checkerframework:checker-qual:3.55.1")
    testImplementation("org.postgresql:postgresql")
    testImplementation("org.springframework:spring-jdbc")
    testImplementation("org.springframework:spring-tx")
    testImplementation("org.springframework:spring-web")
    testImplementation("org.xerial:sqlite-jdbc")

    testImplementation("org.junit.jupiter:junit-jupiter")
    testImplementation("org.assertj:assertj-core")
    testImplementation("org.awaitility:awaitility")
    testImplementation("com.tngtech.archunit:archunit-junit5:1.5.0")
    testImplementation("com.zaxxer:HikariCP")
    testImplementation("ch.qos.logback:logback-classic")
    testImplementation("org.flywaydb:flyway-database-postgresql")
    testImplementation(project(":ratelimit-test-postgres"))
}
