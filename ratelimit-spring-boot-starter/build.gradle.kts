plugins {
    `java-library`
}

dependencies {
    api(project(":ratelimit-spring-boot-autoconfigure"))
    runtimeOnly("org.flywaydb:flyway-database-postgresql")
    runtimeOnly("org.xerial:sqlite-jdbc")
}
