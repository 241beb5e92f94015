package guide;

// region keys
import dev.ratelimit.admin.ApiKeyAdmin;
import dev.ratelimit.admin.NewApiKey;
import dev.ratelimit.admin.RateLimitAdmin;
import dev.ratelimit.admin.version.Change;
import org.springframework.stereotype.Service;

@Service
class PartnerKeys {

    private final RateLimitAdmin admin;

    PartnerKeys(RateLimitAdmin admin) {
        this.admin = admin;
    }

    /** Returns the secret, which nobody can read again. */
    String issue(String partner, String createdBy) {
        ApiKeyAdmin.IssuedKey key =
                admin.keys().create(NewApiKey.of(partner + " API", partner).tier("premium"), Change.by(createdBy));
        return key.secret();
    }

    void revoke(String id, String revokedBy) {
        admin.keys().revoke(id, Change.by(revokedBy));
    }
}
// endregion
