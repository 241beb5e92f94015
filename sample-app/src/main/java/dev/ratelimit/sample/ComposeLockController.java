package dev.ratelimit.sample;

import java.security.Principal;
import org.springframework.http.HttpStatus;
import org.springframework.web.bind.annotation.DeleteMapping;
import org.springframework.web.bind.annotation.PathVariable;
import org.springframework.web.bind.annotation.PostMapping;
import org.springframework.web.bind.annotation.RequestMapping;
import org.springframework.web.bind.annotation.ResponseStatus;
import org.springframework.web.bind.annotation.RestController;

/** Tracks the writer of the next turn of a scene. */
@RestController
@RequestMapping("/api/scenes/{id}/compose-lock")
class ComposeLockController {

    private final PlayByPost games;

    ComposeLockController(PlayByPost games) {
        this.games = games;
    }

    record ComposeLock(long scene, String holder) {}

    @PostMapping("/acquire")
    ComposeLock acquire(@PathVariable long id, Principal user) {
        games.acquireComposeLock(id, user.getName());
        return new ComposeLock(id, user.getName());
    }

    @DeleteMapping("/release")
    @ResponseStatus(HttpStatus.NO_CONTENT)
    void release(@PathVariable long id, Principal user) {
        games.releaseComposeLock(id, user.getName());
    }
}
