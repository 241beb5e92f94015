plugins {
    `java-library`
}

dependencies {
    api(project(":ratelimit-core"))
    api("org.springframework.boot:spring-boot-autoconfigure")
}
