package guide.kotlin

import dev.ratelimit.annotation.RateLimited
import org.springframework.boot.autoconfigure.SpringBootApplication
import org.springframework.boot.runApplication
import org.springframework.http.HttpStatus
import org.springframework.http.ResponseEntity
import org.springframework.web.bind.annotation.PostMapping
import org.springframework.web.bind.annotation.RequestParam
import org.springframework.web.bind.annotation.RestController

@SpringBootApplication
open class KotlinApplication

@RestController
open class Session {

    @PostMapping("/login")
    @RateLimited(limit = "login", key = "#client + ' ' + #username", countWhen = "#status == 401")
    open fun login(@RequestParam username: String, @RequestParam password: String): ResponseEntity<String> =
        if (password == "wonderland") ResponseEntity.ok("Hello, $username!")
        else ResponseEntity.status(HttpStatus.UNAUTHORIZED).build()
}

fun main(args: Array<String>) {
    runApplication<KotlinApplication>(*args)
}
