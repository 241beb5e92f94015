rootProject.name = "ratelimit"

dependencyResolutionManagement {
    repositories {
        mavenCentral()
    }
}

include("ratelimit-bom")
include("ratelimit-test-postgres")
include("ratelimit-core")
include("ratelimit-spring-boot-autoconfigure")
include("ratelimit-spring-boot-starter")
include("ratelimit-test")
include("ratelimit-dashboard")
include("ratelimit-archive")
include("ratelimit-redis")
include("sample-app")
include("examples:basic")
include("examples:login")
include("examples:jpa")
include("examples:cleanup")
include("examples:guides")
include("ratelimit-benchmarks")
