plugins {
    `java-platform`
}

dependencies {
    constraints {
        api(project(":ratelimit-core"))
        api(project(":ratelimit-spring-boot-autoconfigure"))
        api(project(":ratelimit-spring-boot-starter"))
        api(project(":ratelimit-test"))
        api(project(":ratelimit-dashboard"))
        api(project(":ratelimit-archive"))
        api(project(":ratelimit-redis"))
    }
}
