plugins {
    `java-library`
}

dependencies {
    api(project(":ratelimit-spring-boot-autoconfigure"))
    runtimeOnly("com.zaxxer:HikariCP")
    runtimeOnly("org.flywaydb:flyway-database-postgresql")
    runtimeOnly("org.springframework.data:spring-data-jdbc")
    runtimeOnly("org.xerial:sqlite-jdbc")
}
