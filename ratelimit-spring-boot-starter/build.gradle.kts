plugins {
    `java-library`
}

dependencies {
    api(project(":ratelimit-spring-boot-autoconfigure"))
    runtimeOnly("com.zaxxer:HikariCP")
    runtimeOnly("org.flywaydb:flyway-database-postgresql")
    runtimeOnly("org.xerial:sqlite-jdbc")
}
