plugins {
    application
}

application {
    mainClass.set("example.login.LoginApplication")
}

dependencies {
    implementation(project(":ratelimit-spring-boot-starter"))
    implementation("org.springframework.boot:spring-boot-starter-webmvc")
    implementation("org.springframework.boot:spring-boot-starter-security")
    runtimeOnly("org.postgresql:postgresql")

    testImplementation("org.springframework.boot:spring-boot-starter-webmvc-test")
    testImplementation(project(":ratelimit-test"))
    testImplementation("org.springframework.security:spring-security-test")
}
