package dev.ratelimit.operate;

import dev.ratelimit.Subject;
import dev.ratelimit.admin.QuotaAdmin;
import dev.ratelimit.admin.RateLimitAdmin;
import dev.ratelimit.admin.version.InForce;
import dev.ratelimit.admin.version.Version;
import dev.ratelimit.caller.Account;
import dev.ratelimit.policy.AddressRange;
import dev.ratelimit.policy.Rule;
import java.time.Instant;
import java.util.Objects;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/** Lists the blocks of users and addresses that operators have made. */
final class BlockViews {

    private final RateLimitAdmin admin;

    BlockViews(RateLimitAdmin admin) {
        this.admin = admin;
    }

    /** All blocks that are not over: first those of addresses, then those of users by name. */
    Stream<BlockView> all(Instant now) {
        return Stream.concat(
                ofAddresses(now),
                admin.quotas().list().stream()
                        .map(user -> ofUser(user.account(), user.by(), now))
                        .filter(Objects::nonNull));
    }

    /** The block of a user, or {@code null}. */
    @Nullable
    BlockView ofUser(@Nullable Account account, Instant now) {
        if (account == null || !account.isBlocked(now)) {
            return null;
        }
        String by = admin.quotas()
                .find(account.user())
                .map(QuotaAdmin.UserQuota::by)
                .orElse(null);
        return ofUser(account, by, now);
    }

    private static @Nullable BlockView ofUser(Account account, @Nullable String by, Instant now) {
        Instant until = account.blockedUntil(now);
        return until == null
                ? null
                : new BlockView(
                        Subject.user(account.user()).text(),
                        account.blockReason(),
                        by,
                        Times.endOrNull(now, until),
                        Times.left(now, until));
    }

    /** The block that covers all of these addresses, the narrowest one; {@code null} if none does. */
    @Nullable
    BlockView ofAddresses(AddressRange addresses, Instant now) {
        BlockView narrowest = null;
        AddressRange narrow = null;
        for (InForce<Rule> rule : admin.rules().list()) {
            AddressRange blocked = blocked(rule);
            if (blocked != null && blocked.contains(addresses) && (narrow == null || narrow.contains(blocked))) {
                narrow = blocked;
                narrowest = view(rule, blocked, now);
            }
        }
        return narrowest;
    }

    private Stream<BlockView> ofAddresses(Instant now) {
        return admin.rules().list().stream().flatMap(rule -> {
            AddressRange blocked = blocked(rule);
            return blocked == null ? Stream.empty() : Stream.of(view(rule, blocked, now));
        });
    }

    /** The addresses that a rule blocks, if it is in force and {@link Steering#blockAddress} made it. */
    private static @Nullable AddressRange blocked(InForce<Rule> rule) {
        String addresses = rule.content() == null ? null : Steering.addressesBlockedBy(rule.name());
        return addresses == null ? null : AddressRange.around(addresses);
    }

    /** A single IPv4 address as requests from there are counted. */
    private static String written(AddressRange addresses) {
        String text = addresses.toString();
        return text.indexOf(':') < 0 && text.endsWith("/32") ? text.substring(0, text.length() - 3) : text;
    }

    private static BlockView view(InForce<Rule> rule, AddressRange addresses, Instant now) {
        Version<Rule> version = rule.version();
        Instant until = version == null ? null : version.expiresAt();
        return new BlockView(
                Subject.IP + ':' + written(addresses),
                version == null ? null : version.reason(),
                version == null ? null : version.by(),
                until,
                until == null ? Times.FOREVER : Times.left(now, until));
    }
}
