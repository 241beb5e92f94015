plugins {
    `java-library`
}

dependencies {
    api(project(":ratelimit-spring-boot-autoconfigure"))
    implementation("org.springframework.boot:spring-boot-data-redis")
    implementation("org.springframework.data:spring-data-redis")
    implementation("io.lettuce:lettuce-core")
    implementation("org.slf4j:slf4j-api")

    testImplementation("com.tngtech.archunit:archunit-junit5:1.5.0")
    testImplementation(project(":ratelimit-spring-boot-starter"))
    testImplementation(project(":ratelimit-test"))
    testImplementation(project(":ratelimit-test-postgres"))
    testImplementation("com.github.codemonstur:embedded-redis:1.4.4")
    testImplementation("org.postgresql:postgresql")
    testImplementation("org.springframework.boot:spring-boot-starter-test")
    testImplementation("org.springframework.boot:spring-boot-starter-actuator")
    testImplementation("org.springframework.boot:spring-boot-starter-webmvc")
}
