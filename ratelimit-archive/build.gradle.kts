plugins {
    `java-library`
}

dependencies {
    api(project(":ratelimit-spring-boot-autoconfigure"))
    implementation("com.jerolba:carpet-record:0.5.0") {
        // Other codecs than Snappy, and annotations of sources.
        exclude(group = "com.github.luben", module = "zstd-jni")
        exclude(group = "io.airlift", module = "aircompressor")
        exclude(group = "commons-pool", module = "commons-pool")
        exclude(group = "javax.annotation", module = "javax.annotation-api")
    }
    implementation("org.slf4j:slf4j-api")

    testImplementation("com.tngtech.archunit:archunit-junit5:1.5.0")
    testImplementation(project(":ratelimit-spring-boot-starter"))
    testImplementation(project(":ratelimit-test-postgres"))
    testImplementation("org.postgresql:postgresql")
    testImplementation("org.springframework.boot:spring-boot-starter-test")
}
