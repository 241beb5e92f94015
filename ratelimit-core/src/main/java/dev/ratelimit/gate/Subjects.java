package dev.ratelimit.gate;

import dev.ratelimit.IpAddress;
import dev.ratelimit.Subject;
import dev.ratelimit.caller.ApiKey;
import dev.ratelimit.policy.AddressRange;
import dev.ratelimit.policy.Rule;
import dev.ratelimit.policy.SubjectKey;
import dev.ratelimit.setting.InvalidSettingException;
import dev.ratelimit.support.Sha256;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import org.jspecify.annotations.Nullable;

/** Says whose count a request is, by the key of a rule. Where a key finds nobody, it is the client's address. */
public final class Subjects {

    /** Every IPv6 address is a client of its own. */
    public static final int WHOLE_ADDRESS = 128;

    private static final String API_KEY_HEADER = "X-API-Key";
    private static final String UNKNOWN_CLIENT = "unknown";

    /** A header with one of these in its name, such as {@code X-Auth-Token}, holds a secret. */
    private static final List<String> SECRETS =
            List.of("auth", "cookie", "credential", "jwt", "key", "password", "secret", "session", "token");

    private static final String ADDRESS = Subject.IP + ':';

    private final int ipv6Prefix;

    /** By the key as it is written. */
    private final Map<String, SubjectKey> keys = new ConcurrentHashMap<>();

    /**
     * @param ipv6Prefix how many leading bits of an IPv6 address stand for one client
     */
    public Subjects(int ipv6Prefix) {
        if (ipv6Prefix < 1 || ipv6Prefix > WHOLE_ADDRESS) {
            throw new InvalidSettingException("ipv6-prefix", ipv6Prefix, "write a number from 1 to 128");
        }
        this.ipv6Prefix = ipv6Prefix;
    }

    /** The text that stands for the client: its address, or the network of its IPv6 address. */
    public String client(@Nullable IpAddress address) {
        if (address == null) {
            return UNKNOWN_CLIENT;
        }
        return address.isIpv4() ? address.toString() : address.network(ipv6Prefix) + "/" + ipv6Prefix;
    }

    /** The subject that the client counts as by its address. */
    public Subject ofAddress(@Nullable IpAddress address) {
        return Subject.ip(client(address));
    }

    /**
     * The subject of a user, or of a client without a user, together with an address.
     *
     * @param user the subject of the user; without one, that of the address
     */
    public Subject ofUserAndAddress(Subject user, @Nullable IpAddress address) {
        return user.and(Subject.IP, client(address));
    }

    /**
     * The subject that a written one is counted as: each address in it as requests from there count, so that
     * {@code ip:2001:db8::7} is {@code ip:2001:db8:0:0:0:0:0:0/64}. A range is only brought to its normal form.
     */
    public Subject counted(Subject written) {
        String text = written.text();
        if (text.indexOf(ADDRESS) < 0) {
            return written;
        }
        String[] parts = text.split("\\+", -1);
        for (int i = 0; i < parts.length; i++) {
            if (parts[i].startsWith(ADDRESS)) {
                parts[i] = ADDRESS + client(parts[i].substring(ADDRESS.length()));
            }
        }
        return Subject.ofText(String.join("+", parts));
    }

    /** The text that stands for the client at an address or a range; the same text if it is neither. */
    private String client(String written) {
        IpAddress address = written.indexOf('/') < 0 ? IpAddress.parse(written) : null;
        if (address != null) {
            return client(address);
        }
        AddressRange range = AddressRange.around(written);
        return range == null ? written : range.toString();
    }

    /** The subject for the rule; {@code null} only if a live request would be needed to know it. */
    @Nullable
    Subject of(Rule rule, Sender sender) {
        return of(rule.name(), keyOf(rule), sender, sender.userSubject());
    }

    /**
     * The subject of a key; {@code null} only if a live request would be needed to know it.
     *
     * @param rule the name of the rule that has the key, for messages
     * @param user the subject of the user, or {@code null} for nobody
     */
    @Nullable
    Subject of(String rule, SubjectKey key, Sender sender, @Nullable Subject user) {
        LiveRequest live = sender.live();
        Subject found = switch (key.kind()) {
            case USER -> user;
            case IP -> sender.addressSubject();
            case USER_AND_IP -> userAndAddress(sender, user);
            case API_KEY -> apiKey(sender);
            case SESSION -> live == null ? null : digest("session", live.sessionId());
            case HEADER -> live == null ? null : header(key.argument(), live);
            case BEAN, EXPRESSION -> live == null ? null : live.resolve(rule, key);
        };
        if (found != null) {
            return found;
        }
        return live == null && key.kind().needsRequest() ? null : sender.addressSubject();
    }

    private SubjectKey keyOf(Rule rule) {
        SubjectKey known = keys.get(rule.key());
        return known != null
                ? known
                : keys.computeIfAbsent(rule.key(), written -> SubjectKey.parse(rule.name(), written));
    }

    private @Nullable Subject userAndAddress(Sender sender, @Nullable Subject user) {
        Subject address = sender.addressSubject();
        return address == null ? null : ofUserAndAddress(user != null ? user : address, sender.address());
    }

    /** The key that was recognised; where keys are not checked, a digest of the header as it was sent. */
    private static @Nullable Subject apiKey(Sender sender) {
        ApiKey known = sender.apiKey();
        if (known != null) {
            return known.subject();
        }
        LiveRequest live = sender.live();
        return live == null || sender.checksApiKeys() ? null : digest(Subject.API_KEY, live.header(API_KEY_HEADER));
    }

    private static @Nullable Subject header(String name, LiveRequest live) {
        String value = live.header(name);
        if (value == null || value.isBlank()) {
            return null;
        }
        return Subject.of("header", name + "=" + (isSecret(name) ? digest(value) : value.strip()));
    }

    private static boolean isSecret(String header) {
        String name = header.toLowerCase(Locale.ROOT);
        return SECRETS.stream().anyMatch(name::contains);
    }

    private static @Nullable Subject digest(String type, @Nullable String secret) {
        return secret == null || secret.isBlank() ? null : Subject.of(type, digest(secret));
    }

    /** Secrets are counted by their digest: neither a table nor a log ever holds one. */
    private static String digest(String secret) {
        return Sha256.base64(secret.strip());
    }
}
