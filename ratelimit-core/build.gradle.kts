plugins {
    `java-library`
}

dependencies {
    api("org.jspecify:jspecify")
    implementation("org.slf4j:slf4j-api")
    implementation("org.flywaydb:flyway-core")

    compileOnly("org.flywaydb:flyway-database-postgresql")
    compileOnly("org.postgresql:postgresql")
    compileOnly("org.springframework:spring-web")
    compileOnly("org.xerial:sqlite-jdbc")

    testImplementation("org.flywaydb:flyway-database-postgresql")
    testImplementation("org.postgresql:postgresql")
    testImplementation("org.springframework:spring-web")
    testImplementation("org.xerial:sqlite-jdbc")

    testImplementation("org.junit.jupiter:junit-jupiter")
    testImplementation("org.assertj:assertj-core")
    testImplementation("org.awaitility:awaitility")
    testImplementation("com.tngtech.archunit:archunit-junit5:1.5.0")
    testImplementation("com.zaxxer:HikariCP")
    testImplementation("ch.qos.logback:logback-classic")
    testImplementation(project(":ratelimit-test-postgres"))
}
