plugins {
    application
}

application {
    mainClass.set("example.basic.BasicApplication")
}

dependencies {
    implementation(project(":ratelimit-spring-boot-starter"))
    implementation("org.springframework.boot:spring-boot-starter-webmvc")

    testImplementation("org.springframework.boot:spring-boot-starter-webmvc-test")
    testImplementation(project(":ratelimit-test"))
}
