plugins {
    application
}

application {
    mainClass.set("example.cleanup.Cleanup")
}

dependencies {
    implementation(project(":ratelimit-core"))
    implementation("org.xerial:sqlite-jdbc")
    implementation("org.postgresql:postgresql")
    runtimeOnly("org.slf4j:slf4j-simple")

    testImplementation("org.junit.jupiter:junit-jupiter")
    testImplementation("org.assertj:assertj-core")
}
