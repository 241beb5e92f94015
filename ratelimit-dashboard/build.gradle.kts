plugins {
    `java-library`
}

dependencies {
    api(project(":ratelimit-spring-boot-autoconfigure"))
    implementation("org.slf4j:slf4j-api")
    implementation("org.springframework:spring-webmvc")
    implementation("tools.jackson.core:jackson-databind")

    compileOnly("jakarta.servlet:jakarta.servlet-api")
    compileOnly("org.springframework.security:spring-security-core")
    compileOnly("org.springframework.security:spring-security-web")

    testImplementation("jakarta.servlet:jakarta.servlet-api")
    testImplementation("org.springframework.security:spring-security-core")
    testImplementation("org.springframework.security:spring-security-web")

    testImplementation("com.tngtech.archunit:archunit-junit5:1.5.0")
    testImplementation(project(":ratelimit-spring-boot-starter"))
    testImplementation(project(":ratelimit-test-postgres"))
    testImplementation("org.postgresql:postgresql")
    testImplementation("org.seleniumhq.selenium:selenium-chrome-driver")
    testImplementation("org.seleniumhq.selenium:selenium-support")
    testImplementation("org.springframework.boot:spring-boot-starter-security")
    testImplementation("org.springframework.boot:spring-boot-starter-webmvc")
    testImplementation("org.springframework.boot:spring-boot-starter-webmvc-test")
}
