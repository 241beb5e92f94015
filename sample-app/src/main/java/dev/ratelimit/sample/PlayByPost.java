package dev.ratelimit.sample;

import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import org.jspecify.annotations.Nullable;
import org.springframework.http.HttpStatus;
import org.springframework.stereotype.Component;
import org.springframework.web.server.ResponseStatusException;

/** The games, in memory. Safe for use by many threads. */
@Component
class PlayByPost {

    record Campaign(long id, String title, Set<String> members) {}

    record Scene(long id, long campaign, String title) {}

    /**
     * @param scene the scene in which it is a turn, or {@code null} for a post to the campaign
     */
    record Post(long id, long campaign, @Nullable Long scene, String author, String text) {}

    private final Map<Long, Campaign> campaigns = new TreeMap<>();
    private final Map<Long, Scene> scenes = new TreeMap<>();
    private final Map<Long, Post> posts = new TreeMap<>();
    private final Map<Long, String> composing = new TreeMap<>();
    private long lastCampaign;
    private long lastScene;
    private long lastPost;

    /** One of each is there from the start, all with the number 1. */
    PlayByPost() {
        Campaign campaign = addCampaign("The Lighthouse at the End of the World", "alice");
        Scene scene = addScene(campaign.id(), "The lamp goes out");
        addPost(campaign.id(), scene.id(), "alice", "The keeper has been gone for three days.");
    }

    synchronized List<Campaign> campaigns() {
        return List.copyOf(campaigns.values());
    }

    synchronized Campaign campaign(long id) {
        return found(campaigns.get(id), "campaign", id);
    }

    synchronized Campaign addCampaign(String title, String founder) {
        Campaign campaign = new Campaign(++lastCampaign, title, Set.of(founder));
        campaigns.put(campaign.id(), campaign);
        return campaign;
    }

    synchronized Campaign join(long id, String member) {
        Campaign campaign = campaign(id);
        Set<String> members = new TreeSet<>(campaign.members());
        members.add(member);
        Campaign joined = new Campaign(id, campaign.title(), members);
        campaigns.put(id, joined);
        return joined;
    }

    synchronized List<Scene> scenes(long campaign) {
        campaign(campaign);
        return scenes.values().stream()
                .filter(scene -> scene.campaign() == campaign)
                .toList();
    }

    synchronized Scene addScene(long campaign, String title) {
        campaign(campaign);
        Scene scene = new Scene(++lastScene, campaign, title);
        scenes.put(scene.id(), scene);
        return scene;
    }

    synchronized List<Post> posts(long campaign) {
        campaign(campaign);
        return posts.values().stream()
                .filter(post -> post.campaign() == campaign)
                .toList();
    }

    synchronized Post post(long id) {
        return found(posts.get(id), "post", id);
    }

    synchronized Post addPost(long campaign, @Nullable Long scene, String author, String text) {
        campaign(campaign);
        if (scene != null && scene(scene).campaign() != campaign) {
            throw missing("scene", scene);
        }
        Post post = new Post(++lastPost, campaign, scene, author, text);
        posts.put(post.id(), post);
        return post;
    }

    synchronized Post edit(long id, String text) {
        Post post = post(id);
        Post edited = new Post(id, post.campaign(), post.scene(), post.author(), text);
        posts.put(id, edited);
        return edited;
    }

    synchronized void delete(long id) {
        post(id);
        posts.remove(id);
    }

    /** Only one player at a time writes the next turn of a scene. */
    synchronized void acquireComposeLock(long scene, String player) {
        scene(scene);
        String holder = composing.putIfAbsent(scene, player);
        if (holder != null && !holder.equals(player)) {
            throw new ResponseStatusException(HttpStatus.CONFLICT, holder + " is writing already");
        }
    }

    synchronized void releaseComposeLock(long scene, String player) {
        scene(scene);
        if (!composing.remove(scene, player)) {
            throw new ResponseStatusException(HttpStatus.CONFLICT, player + " is not writing");
        }
    }

    private Scene scene(long id) {
        return found(scenes.get(id), "scene", id);
    }

    private static <T> T found(@Nullable T thing, String what, long id) {
        if (thing == null) {
            throw missing(what, id);
        }
        return thing;
    }

    private static ResponseStatusException missing(String what, long id) {
        return new ResponseStatusException(HttpStatus.NOT_FOUND, "There is no " + what + " " + id);
    }
}
