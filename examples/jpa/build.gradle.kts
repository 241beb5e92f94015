plugins {
    application
}

application {
    mainClass.set("example.jpa.JpaApplication")
}

dependencies {
    implementation(project(":ratelimit-spring-boot-starter"))
    implementation("org.springframework.boot:spring-boot-starter-webmvc")
    implementation("org.springframework.boot:spring-boot-starter-data-jpa")
    runtimeOnly("org.postgresql:postgresql")

    testImplementation("org.springframework.boot:spring-boot-starter-webmvc-test")
    testImplementation(project(":ratelimit-test-postgres"))
}
