package dev.ratelimit.sample;

import java.security.Principal;
import org.jspecify.annotations.Nullable;
import org.springframework.http.HttpStatus;
import org.springframework.web.bind.annotation.PostMapping;
import org.springframework.web.bind.annotation.RequestMapping;
import org.springframework.web.bind.annotation.RequestParam;
import org.springframework.web.bind.annotation.ResponseStatus;
import org.springframework.web.bind.annotation.RestController;
import org.springframework.web.multipart.MultipartFile;
import org.springframework.web.server.ResponseStatusException;

/** Takes images, says how large they are, and forgets them. */
@RestController
@RequestMapping("/api/upload")
class UploadController {

    record Upload(String kind, String user, String type, long bytes) {}

    @PostMapping("/avatar")
    @ResponseStatus(HttpStatus.CREATED)
    Upload avatar(@RequestParam MultipartFile image, Principal user) {
        return upload("avatar", image, user);
    }

    @PostMapping("/scene-header")
    @ResponseStatus(HttpStatus.CREATED)
    Upload sceneHeader(@RequestParam MultipartFile image, Principal user) {
        return upload("scene-header", image, user);
    }

    private static Upload upload(String kind, MultipartFile image, Principal user) {
        @Nullable String type = image.getContentType();
        if (type == null || !type.startsWith("image/")) {
            throw new ResponseStatusException(HttpStatus.UNSUPPORTED_MEDIA_TYPE, "This is no image");
        }
        return new Upload(kind, user.getName(), type, image.getSize());
    }
}
