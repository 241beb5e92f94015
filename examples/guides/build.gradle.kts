plugins {
    java
}

dependencies {
    implementation(project(":ratelimit-spring-boot-starter"))
    implementation("org.springframework.boot:spring-boot-starter-webmvc")
    implementation("com.zaxxer:HikariCP")
    implementation("org.postgresql:postgresql")

    testImplementation("org.springframework.boot:spring-boot-starter-webmvc-test")
    testImplementation(project(":ratelimit-test-postgres"))
    testImplementation(project(":ratelimit-redis"))
    testImplementation(project(":ratelimit-archive"))
    testImplementation("org.springframework.boot:spring-boot-starter-security")
    testImplementation("org.jetbrains.kotlin:kotlin-compiler-embeddable")
    testImplementation("org.jetbrains.kotlin:kotlin-reflect")
}
