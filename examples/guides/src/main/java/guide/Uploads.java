package guide;

// region uploads
import dev.ratelimit.annotation.RateLimited;
import org.springframework.web.bind.annotation.PostMapping;
import org.springframework.web.bind.annotation.RequestBody;
import org.springframework.web.bind.annotation.RestController;

@RestController
class Uploads {

    @PostMapping("/upload")
    @RateLimited("upload")
    String upload(@RequestBody byte[] image) {
        return image.length + " bytes";
    }
}
// endregion
