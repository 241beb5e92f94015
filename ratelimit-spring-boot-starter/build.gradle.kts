plugins {
    `java-library`
}

dependencies {
    api(project(":ratelimit-spring-boot-autoconfigure"))
    api("org.springframework.boot:spring-boot-starter")
    runtimeOnly("com.zaxxer:HikariCP")
    runtimeOnly("org.springframework:spring-jdbc")
    runtimeOnly("org.xerial:sqlite-jdbc")
}
