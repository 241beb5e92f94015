package dev.ratelimit.sample;

import dev.ratelimit.sample.PlayByPost.Campaign;
import dev.ratelimit.sample.PlayByPost.Post;
import dev.ratelimit.sample.PlayByPost.Scene;
import java.security.Principal;
import java.util.List;
import org.jspecify.annotations.Nullable;
import org.springframework.http.HttpStatus;
import org.springframework.web.bind.annotation.DeleteMapping;
import org.springframework.web.bind.annotation.GetMapping;
import org.springframework.web.bind.annotation.PathVariable;
import org.springframework.web.bind.annotation.PostMapping;
import org.springframework.web.bind.annotation.PutMapping;
import org.springframework.web.bind.annotation.RequestBody;
import org.springframework.web.bind.annotation.RequestMapping;
import org.springframework.web.bind.annotation.ResponseStatus;
import org.springframework.web.bind.annotation.RestController;

/** Campaigns, their scenes and posts. */
@RestController
@RequestMapping("/api")
class CampaignController {

    private final PlayByPost games;

    CampaignController(PlayByPost games) {
        this.games = games;
    }

    record Title(String title) {
        Title {
            requireText("title", title);
        }
    }

    record Text(String text) {
        Text {
            requireText("text", text);
        }
    }

    private static void requireText(String name, @Nullable String value) {
        if (value == null || value.isBlank()) {
            throw new IllegalArgumentException(name + " is missing");
        }
    }

    @GetMapping("/campaigns")
    List<Campaign> campaigns() {
        return games.campaigns();
    }

    @GetMapping("/campaigns/{id}")
    Campaign campaign(@PathVariable long id) {
        return games.campaign(id);
    }

    @PostMapping("/campaigns")
    @ResponseStatus(HttpStatus.CREATED)
    Campaign create(@RequestBody Title form, Principal user) {
        return games.addCampaign(form.title(), user.getName());
    }

    /** An anonymous caller joins as a guest. */
    @PostMapping("/campaigns/{id}/join")
    Campaign join(@PathVariable long id, @Nullable Principal user) {
        return games.join(id, user == null ? "guest" : user.getName());
    }

    @GetMapping("/campaigns/{id}/scenes")
    List<Scene> scenes(@PathVariable long id) {
        return games.scenes(id);
    }

    @PostMapping("/campaigns/{id}/scenes")
    @ResponseStatus(HttpStatus.CREATED)
    Scene createScene(@PathVariable long id, @RequestBody Title form) {
        return games.addScene(id, form.title());
    }

    @GetMapping("/campaigns/{id}/posts")
    List<Post> posts(@PathVariable long id) {
        return games.posts(id);
    }

    @PostMapping("/campaigns/{id}/posts")
    @ResponseStatus(HttpStatus.CREATED)
    Post post(@PathVariable long id, @RequestBody Text form, Principal user) {
        return games.addPost(id, null, user.getName(), form.text());
    }

    @PostMapping("/campaigns/{id}/scenes/{scene}/posts")
    @ResponseStatus(HttpStatus.CREATED)
    Post turn(@PathVariable long id, @PathVariable long scene, @RequestBody Text form, Principal user) {
        return games.addPost(id, scene, user.getName(), form.text());
    }

    @GetMapping("/posts/{id}")
    Post post(@PathVariable long id) {
        return games.post(id);
    }

    @PutMapping("/posts/{id}")
    Post edit(@PathVariable long id, @RequestBody Text form) {
        return games.edit(id, form.text());
    }

    @DeleteMapping("/posts/{id}")
    @ResponseStatus(HttpStatus.NO_CONTENT)
    void delete(@PathVariable long id) {
        games.delete(id);
    }
}
