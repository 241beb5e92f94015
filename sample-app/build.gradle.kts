plugins {
    application
}

application {
    mainClass.set("dev.ratelimit.sample.SampleApplication")
}

dependencies {
    implementation(project(":ratelimit-spring-boot-starter"))
    implementation(project(":ratelimit-dashboard"))
    implementation(project(":ratelimit-redis"))
    implementation("org.springframework.boot:spring-boot-starter-webmvc")
    implementation("org.springframework.boot:spring-boot-starter-security")
    implementation("org.springframework.boot:spring-boot-starter-actuator")
    runtimeOnly("io.micrometer:micrometer-registry-prometheus")
    runtimeOnly("org.postgresql:postgresql")

    testImplementation("org.springframework.boot:spring-boot-starter-webmvc-test")
    testImplementation("org.seleniumhq.selenium:selenium-chrome-driver")
    testImplementation("org.seleniumhq.selenium:selenium-support")
    testImplementation(project(":ratelimit-test"))
    testImplementation(project(":ratelimit-test-postgres"))
    testImplementation("com.github.codemonstur:embedded-redis:1.4.4")
}
