plugins {
    application
}

application {
    mainClass.set("dev.ratelimit.sample.SampleApplication")
}

dependencies {
    implementation(project(":ratelimit-core"))
    implementation("org.xerial:sqlite-jdbc")
    runtimeOnly("ch.qos.logback:logback-classic")
}
