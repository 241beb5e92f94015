package guide;

// region keys
import dev.ratelimit.admin.KeyAdmin;
import dev.ratelimit.admin.NewKey;
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
        KeyAdmin.IssuedKey key =
                admin.keys().create(NewKey.of(partner + " API", partner).tier("premium"), Change.by(createdBy));
        return key.secret();
    }

    void revoke(String id, String revokedBy) {
        admin.keys().revoke(id, Change.by(revokedBy));
    }
}
// endregion
