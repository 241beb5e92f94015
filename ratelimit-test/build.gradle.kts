plugins {
    `java-library`
}

dependencies {
    api(project(":ratelimit-spring-boot-autoconfigure"))
    api("org.springframework.boot:spring-boot-test")
    api("org.springframework:spring-test")
    api("org.assertj:assertj-core")
    implementation("org.slf4j:slf4j-api")

    compileOnly("org.junit.jupiter:junit-jupiter")
    compileOnly("org.awaitility:awaitility")
    compileOnly("jakarta.servlet:jakarta.servlet-api")
    compileOnly("org.springframework:spring-webflux")
    compileOnly("org.springframework:spring-webmvc")
    compileOnly("org.springframework.security:spring-security-core")

    testImplementation("org.junit.jupiter:junit-jupiter")
    testImplementation("org.awaitility:awaitility")
    testImplementation("jakarta.servlet:jakarta.servlet-api")
    testImplementation("org.springframework:spring-webflux")
    testImplementation("org.springframework:spring-webmvc")
    testImplementation("org.springframework.security:spring-security-core")

    testImplementation("com.tngtech.archunit:archunit-junit5:1.5.0")
    testImplementation(project(":ratelimit-spring-boot-starter"))
    testImplementation(project(":ratelimit-test-postgres"))
    testImplementation("org.postgresql:postgresql")
    testImplementation("org.springframework.boot:spring-boot-starter-webmvc-test")
    testImplementation("org.springframework.boot:spring-boot-starter-webmvc")
    testImplementation("org.springframework.boot:spring-boot-starter-security")
    testImplementation("org.springframework.boot:spring-boot-starter-security-test")
    testImplementation("org.junit.platform:junit-platform-testkit")
}
