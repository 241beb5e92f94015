rootProject.name = "ratelimit"

dependencyResolutionManagement {
    repositories {
        mavenCentral()
    }
}

include("ratelimit-core")
include("ratelimit-spring-boot-autoconfigure")
include("ratelimit-spring-boot-starter")
include("sample-app")
