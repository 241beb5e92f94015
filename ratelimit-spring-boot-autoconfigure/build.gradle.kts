plugins {
    `java-library`
}

val springBootVersion: String by rootProject.extra

dependencies {
    api(project(":ratelimit-core"))
    implementation("org.slf4j:slf4j-api")
    api("org.springframework.boot:spring-boot-autoconfigure")

    compileOnly("com.fasterxml.jackson.core:jackson-annotations")
    compileOnly("com.zaxxer:HikariCP")
    compileOnly("io.micrometer:micrometer-core")
    compileOnly("io.micrometer:micrometer-observation")
    compileOnly("jakarta.servlet:jakarta.servlet-api")
    compileOnly("org.checkerframework:checker-qual:3.55.1")
    compileOnly("org.postgresql:postgresql")
    compileOnly("org.springframework:spring-webmvc")
    compileOnly("org.springframework.boot:spring-boot-actuator-autoconfigure")
    compileOnly("org.springframework.boot:spring-boot-health")
    compileOnly("org.springframework.boot:spring-boot-jdbc")
    compileOnly("org.springframework.boot:spring-boot-jetty")
    compileOnly("org.springframework.boot:spring-boot-sql")
    compileOnly("org.springframework.boot:spring-boot-tomcat")
    compileOnly("org.springframework:spring-jdbc")
    compileOnly("org.springframework.security:spring-security-config")
    compileOnly("org.springframework.security:spring-security-core")
    compileOnly("org.springframework.security:spring-security-web")

    testImplementation("com.fasterxml.jackson.core:jackson-annotations")
    testImplementation("com.zaxxer:HikariCP")
    testImplementation("io.micrometer:micrometer-core")
    testImplementation("io.micrometer:micrometer-observation")
    testImplementation("jakarta.servlet:jakarta.servlet-api")
    testImplementation("org.checkerframework:checker-qual:3.55.1")
    testImplementation("org.postgresql:postgresql")
    testImplementation("org.springframework:spring-webmvc")
    testImplementation("org.springframework.boot:spring-boot-actuator-autoconfigure")
    testImplementation("org.springframework.boot:spring-boot-health")
    testImplementation("org.springframework.boot:spring-boot-jdbc")
    testImplementation("org.springframework.boot:spring-boot-jetty")
    testImplementation("org.springframework.boot:spring-boot-sql")
    testImplementation("org.springframework.boot:spring-boot-tomcat")
    testImplementation("org.springframework:spring-jdbc")
    testImplementation("org.springframework.security:spring-security-config")
    testImplementation("org.springframework.security:spring-security-core")
    testImplementation("org.springframework.security:spring-security-web")

    testImplementation("org.springframework.boot:spring-boot-starter-actuator")
    testImplementation("com.h2database:h2")
    testImplementation("org.apache.commons:commons-dbcp2")
    testImplementation("p6spy:p6spy:3.9.1")
    testImplementation("software.amazon.jdbc:aws-advanced-jdbc-wrapper:2.5.6")
    testImplementation("com.tngtech.archunit:archunit-junit5:1.5.0")
    testImplementation("org.springframework:spring-webflux")
    testImplementation(project(":ratelimit-test-postgres"))
    testImplementation("org.springframework.boot:spring-boot-starter-data-jdbc")
    testImplementation("org.springframework.boot:spring-boot-starter-flyway")
    testImplementation("org.flywaydb:flyway-database-postgresql")
    testImplementation("org.xerial:sqlite-jdbc")
    testImplementation("org.springframework.boot:spring-boot-starter-webmvc-test")
    testImplementation("org.springframework.boot:spring-boot-starter-webmvc")
    testImplementation("org.springframework.boot:spring-boot-starter-security")
    testImplementation("org.springframework.boot:spring-boot-starter-security-test")

    annotationProcessor(platform("org.springframework.boot:spring-boot-dependencies:$springBootVersion"))
    annotationProcessor("org.springframework.boot:spring-boot-configuration-processor")
}

// The processor adds the hints of additional-spring-configuration-metadata.json to what it generates.
tasks.named<JavaCompile>("compileJava") {
    inputs.files(tasks.named("processResources"))
}
